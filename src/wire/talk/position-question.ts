// Asks a server, on a connection of our own, which WAL it has written, flushed or replayed. The statements are prepared
// once, so that a question is one small packet each way. Bytes behind the login, one question at a time.
import { MessageReader } from '../messages/message-reader.ts';
import { cString, int16, int32, joined, message } from '../messages/server-messages.ts';
import { parseLsn } from '../../model/lsn.ts';
import { rowOf, serverError } from './server-replies.ts';
import { endOfRecords, timelineOf } from './wal-report.ts';

export type PositionReply =
  /** The statements are prepared. */
  | { readonly kind: 'prepared'; readonly systemIdentifier: string }
  | PrimaryPosition
  | { readonly kind: 'standby'; readonly replayed: number }
  /** Everything that was written before is flushed. */
  | { readonly kind: 'nudged' }
  /** The question failed. The connection stays. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The connection is of no use any longer. */
  | { readonly kind: 'over'; readonly why: string };

interface PrimaryPosition {
  readonly kind: 'primary';
  readonly timeline: number;
  /** The end of its last record. Bytes. */
  readonly written: number;
  readonly flushed: number;
}

/** Settings of each connection, so that none of the role or the database spoils an answer. */
export const POSITION_SETTINGS = {
  application_name: 'pointsman',
  client_encoding: 'UTF8',
  // The nudge waits for the disk of its server, and not for a standby.
  synchronous_commit: 'local',
  statement_timeout: '1s',
  // A standby has no serializable transactions.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
} as const;

/** No answer is longer. Bytes. */
const LONGEST = 10_000;
const [POSITION, NUDGE] = ['pointsman_position', 'pointsman_nudge'];

/** One value: it is read at one moment, so a promotion cannot come between its parts. */
const POSITION_SQL = `SELECT CASE WHEN pg_catalog.pg_is_in_recovery()
  THEN pg_catalog.concat('standby ', pg_catalog.pg_last_wal_replay_lsn())
  ELSE pg_catalog.concat_ws(' ', 'primary', pg_catalog.pg_current_wal_flush_lsn(),
    pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), pg_catalog.pg_current_wal_insert_lsn()) END`;
const SERVER_SQL = `SELECT pg_catalog.concat_ws(' ', system_identifier, pg_catalog.current_setting('wal_block_size'),
  pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size'))) FROM pg_catalog.pg_control_system()`;
/** From 17 on a message can be flushed by itself. Before, the end of its transaction flushes it. */
const FLUSHES_FROM = 17;
/** From 14 on a server may end a connection that asks nothing. */
const IDLE_LIMIT_FROM = 14;

type PositionRequest = 'server' | 'position' | 'nudge';

export class PositionTalk {
  readonly #reader = new MessageReader(LONGEST);
  #question: PositionRequest | undefined;
  #value = '';
  #error: string | undefined;
  #page = 0;
  #segment = 0;

  /** The first bytes behind the login. `serverMajor`: the first number of server_version. */
  prepare(serverMajor: number): Uint8Array {
    this.#question = 'server';
    const content =
      serverMajor >= FLUSHES_FROM ? "(false, 'pointsman', ''::text, true)" : "(true, 'pointsman', ''::text)";
    return joined([
      ...(serverMajor >= IDLE_LIMIT_FROM ? run('', 'SET idle_session_timeout = 0') : []),
      parse(POSITION, POSITION_SQL),
      parse(NUDGE, `SELECT pg_catalog.pg_logical_emit_message${content}`),
      ...run('', SERVER_SQL),
      message('S'),
    ]);
  }

  /** The bytes of the next question. */
  ask(question: 'position' | 'nudge'): Uint8Array {
    this.#question = question;
    return question === 'position' ? ASK : ASK_NUDGE;
  }

  /** The next bytes of the server. Undefined: more are due. */
  take(chunk: Uint8Array): PositionReply | undefined {
    this.#reader.add(chunk);
    for (;;) {
      const next = this.#reader.next();
      if (next === undefined) return undefined;
      const reply = next.body === undefined ? UNREADABLE : this.#read(next.type, next.body);
      if (reply !== undefined) return reply;
    }
  }

  #read(type: string, body: Uint8Array): PositionReply | undefined {
    switch (type) {
      case 'D':
        this.#value = rowOf(body)?.[0] ?? '';
        return undefined;
      case 'E': {
        const { message: words, sqlState, isFatal } = serverError(body, '');
        this.#error = `${words} (${sqlState})`;
        return isFatal ? { kind: 'over', why: this.#error } : undefined;
      }
      case 'Z':
        return this.#end(body[0]);
      // Complete: a parse, a bind, a statement. Notices, parameters and notifications.
      case '1':
      case '2':
      case 'C':
      case 'N':
      case 'S':
      case 'A':
        return undefined;
      default:
        return UNREADABLE;
    }
  }

  #end(status: number | undefined): PositionReply {
    const [question, value, error] = [this.#question, this.#value, this.#error];
    this.#question = undefined;
    this.#value = '';
    this.#error = undefined;
    if (status !== IDLE || question === undefined) return UNREADABLE;
    if (error !== undefined) return { kind: question === 'server' ? 'over' : 'refused', why: error };
    if (question === 'nudge') return { kind: 'nudged' };
    return (question === 'server' ? this.#server(value) : this.#position(value)) ?? UNREADABLE;
  }

  #server(value: string): PositionReply | undefined {
    const [, systemIdentifier, page, segment] = /^(\d+) (\d{1,9}) (\d{1,10})$/.exec(value) ?? [];
    if (systemIdentifier === undefined) return undefined;
    this.#page = Number(page);
    this.#segment = Number(segment);
    return { kind: 'prepared', systemIdentifier };
  }

  #position(value: string): PositionReply | undefined {
    const [role, first, file, last] = value.split(' ');
    const position = parseLsn(first ?? '');
    // Without a position it has replayed nothing since its start.
    if (role === 'standby' && first === '') return { kind: 'standby', replayed: 0 };
    if (role === 'standby' && position !== undefined) return { kind: 'standby', replayed: position };
    const [timeline, inserted] = [timelineOf(file), parseLsn(last ?? '')];
    if (role !== 'primary' || position === undefined || timeline === undefined || inserted === undefined)
      return undefined;
    return { kind: 'primary', timeline, written: endOfRecords(inserted, this.#page, this.#segment), flushed: position };
  }
}

const IDLE = 0x49;
const UNREADABLE: PositionReply = { kind: 'over', why: 'the answer of the server is not understood' };
const ASK = joined([...execute(POSITION), message('S')]);
const ASK_NUDGE = joined([...execute(NUDGE), message('S')]);

function parse(name: string, sql: string): Uint8Array {
  return message('P', [cString(name), cString(sql), int16(0)]);
}

function execute(name: string): readonly Uint8Array[] {
  return [
    message('B', [cString(''), cString(name), int16(0), int16(0), int16(0)]),
    message('E', [cString(''), int32(0)]),
  ];
}

function run(name: string, sql: string): readonly Uint8Array[] {
  return [parse(name, sql), ...execute(name)];
}
