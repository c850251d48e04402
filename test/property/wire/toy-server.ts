// PostgreSQL's command loop without its commands (PostgresMain in postgres.c, CopyGetData in copyfromparse.c). It
// decides which messages get an answer, which it skips after an error, and which a COPY takes. The caller chooses the
// effect of each command.
import {
  aMessage,
  COMMAND_COMPLETE,
  COPY_IN_RESPONSE,
  COPY_OUT_RESPONSE,
  DATA_ROW,
  errorOf,
  readyForQuery,
} from '../../support/sockets/messages.ts';

export const OUTCOMES = ['done', 'rows', 'error', 'begin', 'end', 'copy-in', 'copy-out'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const ERROR = errorOf(['SERROR', 'VERROR', 'C42601', 'Mno']);
const FATAL = errorOf(['SFATAL', 'VFATAL', 'C08P01', 'Mprotocol synchronization was lost']);
const ROWS = Buffer.concat([DATA_ROW, DATA_ROW, errorOf(['SNOTICE'], 'N'), COMMAND_COMPLETE]);
const COPY_OUT = Buffer.concat([COPY_OUT_RESPONSE, aMessage('d', Buffer.from('x')), aMessage('c'), COMMAND_COMPLETE]);
const REPLIES: Readonly<Record<string, string>> = { P: '1', B: '2', D: 'n', C: '3' };

export class ToyServer {
  #status = 'I';
  #copyIn: 'none' | 'simple' | 'extended' = 'none';
  #isSkipping = false;
  /** A portal, or a result, without a Sync so far. Statements that are prepared stay. */
  #hasOpenWork = false;
  #isOver = false;

  /** It has ended the session, because a message came that a COPY does not take. */
  isOver(): boolean {
    return this.#isOver;
  }

  /** The end of the session would cut off nothing. */
  isIdle(): boolean {
    return this.#status === 'I' && this.#copyIn === 'none' && !this.#hasOpenWork && !this.#isSkipping;
  }

  /** The server's answer to one message. */
  take(type: string, outcome: Outcome): Buffer {
    if (this.#isOver) return Buffer.alloc(0);
    if (this.#copyIn !== 'none') return this.#takeInCopy(type, outcome);
    if (this.#isSkipping && type !== 'S') return Buffer.alloc(0);
    switch (type) {
      case 'S':
        this.#isSkipping = false;
        this.#hasOpenWork = false;
        return readyForQuery(this.#status);
      case 'Q':
      case 'F':
        this.#hasOpenWork = false;
        return this.#run(outcome, 'simple');
      case 'E':
        this.#hasOpenWork = true;
        return this.#run(outcome, 'extended');
      case 'P':
      case 'B':
      case 'D':
      case 'C':
        if (type === 'B') this.#hasOpenWork = true;
        return outcome === 'error' ? this.#fail('extended') : aMessage(REPLIES[type] ?? '');
      default:
        return Buffer.alloc(0);
    }
  }

  #takeInCopy(type: string, outcome: Outcome): Buffer {
    const protocol = this.#copyIn === 'simple' ? 'simple' : 'extended';
    if (type === 'S' || type === 'H') return Buffer.alloc(0);
    if (type === 'd' && outcome !== 'error') return Buffer.alloc(0);
    if (!'dcf'.includes(type)) {
      this.#isOver = true;
      return FATAL;
    }
    this.#copyIn = 'none';
    return type === 'c' ? this.#succeed(COMMAND_COMPLETE, protocol) : this.#fail(protocol);
  }

  #run(outcome: Outcome, protocol: 'simple' | 'extended'): Buffer {
    switch (outcome) {
      case 'error':
        return this.#fail(protocol);
      case 'copy-in':
        this.#copyIn = protocol;
        return COPY_IN_RESPONSE;
      case 'begin':
        this.#status = 'T';
        return this.#succeed(COMMAND_COMPLETE, protocol);
      case 'end':
        this.#status = 'I';
        return this.#succeed(COMMAND_COMPLETE, protocol);
      case 'done':
        return this.#succeed(COMMAND_COMPLETE, protocol);
      case 'rows':
        return this.#succeed(ROWS, protocol);
      case 'copy-out':
        return this.#succeed(COPY_OUT, protocol);
    }
  }

  #succeed(answer: Buffer, protocol: 'simple' | 'extended'): Buffer {
    return protocol === 'simple' ? Buffer.concat([answer, readyForQuery(this.#status)]) : answer;
  }

  #fail(protocol: 'simple' | 'extended'): Buffer {
    if (this.#status === 'T') this.#status = 'E';
    if (protocol === 'simple') return Buffer.concat([ERROR, readyForQuery(this.#status)]);
    this.#isSkipping = true;
    return ERROR;
  }
}
