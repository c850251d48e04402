// Random streams of clients against real servers: the follower calls a session idle when its server is, and never
// before. The server's answers to the messages behind a stream tell where it was at the end of it. A Sync of ours amid
// a stream, where the follower allows one, changes none of them.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import type { Activity } from '../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../src/wire/follow/session-memory.ts';
import { rounds } from '../../support/runner/ci.ts';
import { describeOnEachPostgres } from '../../support/sandbox/each-postgres.ts';
import { startLoginServer } from '../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../support/sandbox/login-server.ts';
import { COPIED, clientStreams } from '../../support/sockets/client-streams.ts';
import type { Stream } from '../../support/sockets/client-streams.ts';
import { AUTHENTICATION_OK, aMessage, readyForQuery } from '../../support/sockets/messages.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { until } from '../../support/waiting/until.ts';

/** Streams for each version. */
const STREAMS = Number(process.env['POINTSMAN_STREAMS'] ?? rounds(200, 1_000));
const LANES = 4;
/** A test has so long for each stream; a stream without an answer, for itself. Milliseconds. */
const USUAL_MS = 100;
const LIMIT_MS = 20_000;
/** PostgreSQL itself crashes at one of some ten thousand streams, and all lanes begin anew. More is a failure. */
const MOST_CRASHES = 2;
const RECOVERY_MS = 60_000;
const CLOSED = 'the server has closed';

const aQuery = (sql: string): Buffer => aMessage('Q', Buffer.from(`${sql}\0`));
const READY = readyForQuery('I');
const SYNC = aMessage('S');
const MARK = aQuery("select 'the mark'");
const ROLLBACK = aQuery('rollback');
/** Behind a stream: ends a COPY, the transaction, and a batch that failed. */
const TAIL = Buffer.concat([aMessage('f', Buffer.from('the end\0')), ROLLBACK, SYNC, ROLLBACK, MARK]);
const RESETS = `rollback; close all; deallocate all; reset all; drop table if exists later; truncate ${COPIED}`;
const RESET = aQuery(`${RESETS}; listen news; select 'reset'`);
const COPY_FAIL = 0x66;
/** Answers to Parse, Describe and Close. */
const PREPARING = '1tTn3';
const STATUSES: Readonly<Record<string, Activity>> = { I: 'idle', T: 'in_transaction', E: 'in_failed_transaction' };

interface ServerMessage {
  readonly type: string;
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

/** Whole ones, without those that may come at any time. */
function messagesOf(bytes: Buffer): readonly ServerMessage[] {
  const messages: ServerMessage[] = [];
  let end = 0;
  for (let at = 0; at + 5 <= bytes.length; at = end) {
    end = at + 1 + bytes.readInt32BE(at + 1);
    const type = bytes.toString('latin1', at, at + 1);
    if (!isUnasked(type)) messages.push({ type, text: bytes.toString('latin1', at + 5, end), at, end });
  }
  return messages;
}

function isUnasked(type: string): boolean {
  return 'NSA'.includes(type);
}

/** The mark has been answered. */
function isWhole(answer: Buffer): boolean {
  return answer.includes('the markC') && answer.subarray(-6).equals(READY);
}

/** A stream: how many bytes of the answer are its own, and what its session does behind it. */
interface Truth {
  readonly length: number;
  readonly activity: Activity;
  /** The stream ends with a batch without a Sync. */
  readonly isOpen: boolean;
}

/** `answer`: to the stream and its tail. */
function truthOf(answer: Buffer): Truth {
  const messages = messagesOf(answer);
  // The last six: CommandComplete and ReadyForQuery of the rollback, and the mark. Before them that of the Sync.
  let count = messages.length - 7;
  // The server has not discarded the first rollback.
  if (messages[count - 1]?.type === 'Z') count -= 2;
  const copying = messages.findIndex(({ type, text }) => type === 'E' && text.includes('the end'));
  const own = messages.slice(0, copying === -1 ? count : copying);
  const ready = own.findLast(({ type }) => type === 'Z');
  const batch = own.slice(ready === undefined ? 0 : own.indexOf(ready) + 1);
  const hasRun = !batch.every(({ type }) => PREPARING.includes(type));
  const activity = hasRun ? 'busy' : (STATUSES[ready?.text ?? 'I'] ?? 'unknown');
  return { length: own.at(-1)?.end ?? 0, activity, isOpen: batch.length > 0 };
}

/** One connection, on which one stream after the other is played. */
class Lane {
  readonly socket: Socket;
  #onBytes: (chunk: Buffer) => void = () => {};
  /** For a failure. */
  #latest = '';

  private constructor(socket: Socket) {
    this.socket = socket.setNoDelay(true).on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#onBytes(chunk));
  }

  /** A server that has crashed takes a while. */
  static again(address: Address): Promise<Lane> {
    return until('the server', () => Lane.open(address).catch(() => undefined), RECOVERY_MS);
  }

  static async open({ host, port }: Address): Promise<Lane> {
    const socket = connect({ host, port });
    await once(socket, 'connect');
    const lane = new Lane(socket);
    await lane.answerTo(aStartup({ user: 'app', database: 'postgres' }), (bytes) => bytes.includes(READY));
    await lane.answerTo(aQuery(`create temp table ${COPIED} (a int)`), (bytes) => bytes.includes(READY));
    return lane;
  }

  /** Gives the server's bytes to `take` until it returns true. */
  async read(take: (chunk: Buffer) => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error('the server is silent')), LIMIT_MS);
    const closed = (): void => reject(new Error(`${CLOSED}: ${this.#latest}`));
    this.socket.once('close', closed);
    this.#onBytes = (chunk) => {
      this.#latest = chunk.toString('latin1');
      try {
        if (take(chunk)) resolve();
      } catch (error) {
        reject(error);
      }
    };
    await promise.finally(() => {
      clearTimeout(timer);
      this.socket.off('close', closed);
    });
  }

  async answerTo(bytes: Uint8Array, isWhole: (answer: Buffer) => boolean): Promise<Buffer> {
    let answer = Buffer.alloc(0);
    const read = this.read((chunk) => isWhole((answer = Buffer.concat([answer, chunk]))));
    this.socket.write(bytes);
    await read;
    return answer;
  }

  async reset(): Promise<void> {
    await this.answerTo(RESET, (answer) => answer.includes('resetC') && answer.subarray(-6).equals(READY));
  }
}

/** How a stream comes: in which pieces, and whether requests wait for each other. */
interface Way {
  readonly clientCuts: readonly number[];
  readonly serverCuts: readonly number[];
  /** Turns of the event loop between two pieces of the client. */
  readonly pauses: readonly number[];
  readonly isOneByOne: boolean;
  /** A Sync of ours goes to the server wherever it may. */
  readonly isSynced: boolean;
}

const cuts = fc.array(fc.nat({ max: 5_000 }), { maxLength: 8 });
const ways: fc.Arbitrary<Way> = fc.record({
  clientCuts: cuts,
  serverCuts: cuts,
  pauses: fc.array(fc.constantFrom(0, 1, 4, 16), { minLength: 1, maxLength: 8 }),
  isOneByOne: fc.boolean(),
  isSynced: fc.boolean(),
});

function inPieces(bytes: Buffer, at: readonly number[]): readonly Buffer[] {
  const places = [...at.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((one, other) => one - other);
  return places.map((to, index) => bytes.subarray(places[index - 1] ?? 0, to)).filter(({ length }) => length > 0);
}

/** The follower between a client and the server, as a relay shows it the bytes. */
class Passage {
  readonly #lane: Lane;
  readonly #way: Way;
  readonly #stream: Stream;
  readonly #truth: Truth;
  readonly #follower: SessionFollower;
  #held: Buffer = Buffer.alloc(0);
  #seen = 0;
  /** For a failure: the types of the messages, as they came. */
  #course = '';
  readonly #allPassed = Promise.withResolvers<void>();
  /** Resolves with the answer to a Sync of ours. */
  #ownSync: PromiseWithResolvers<void> | undefined;
  #hasClientEnded = false;

  constructor(lane: Lane, stream: Stream, way: Way, truth: Truth) {
    this.#lane = lane;
    this.#way = way;
    this.#stream = stream;
    this.#truth = truth;
    this.#follower = new SessionFollower(way.isOneByOne ? new SessionMemory() : undefined);
    this.#follower.fromBackend(Buffer.concat([AUTHENTICATION_OK, READY]));
  }

  /** Returns the activity when the server has answered all of the stream. */
  async play(): Promise<Activity> {
    const { clientCuts, pauses } = this.#way;
    let answer = Buffer.alloc(0);
    const read = this.#lane.read((chunk) => {
      const own = this.#withoutOwnReady(chunk);
      answer = Buffer.concat([answer, own]);
      this.#fromServer(own);
      return isWhole(answer);
    });
    for (const [index, piece] of inPieces(Buffer.concat(this.#stream.messages), clientCuts).entries()) {
      this.#fromClient(piece);
      for (let left = pauses[index % pauses.length] ?? 0; left > 0; left -= 1) await turn();
      await Promise.race([this.#sync(), read]);
    }
    this.#hasClientEnded = true;
    this.#fromClient(Buffer.alloc(0));
    await Promise.race([this.#allPassed.promise, read]);
    this.#lane.socket.write(TAIL);
    await read;
    return this.#follower.activity();
  }

  course(): string {
    return this.#course;
  }

  /** A Sync of ours, if one may come here. Resolves when it is answered. */
  async #sync(): Promise<void> {
    if (!this.#way.isSynced || this.#follower.activity() !== 'idle' || !this.#follower.endBatch()) return;
    this.#ownSync = Promise.withResolvers();
    this.#course += ' >(Sync)';
    this.#lane.socket.write(SYNC);
    await this.#ownSync.promise;
  }

  /** The server says nothing else to a Sync of ours. */
  #withoutOwnReady(chunk: Buffer): Buffer {
    if (this.#ownSync === undefined) return chunk;
    const rest = chunk.subarray(0, -READY.length);
    const isReady = chunk.subarray(-READY.length).equals(READY) && messagesOf(rest).length === 0;
    if (!isReady) throw new Error(`the answer to a Sync of ours: ${chunk.toString('latin1')}`);
    this.#ownSync.resolve();
    this.#ownSync = undefined;
    return rest;
  }

  #fromClient(piece: Buffer): void {
    const bytes = Buffer.concat([this.#held, piece]);
    this.#held = Buffer.alloc(0);
    let passed = bytes.length;
    if (this.#way.isOneByOne) passed = this.#follower.fromClientOneByOne(bytes);
    else this.#follower.fromClient(bytes);
    this.#held = bytes.subarray(passed);
    this.#course += ` >${bytes.toString('latin1', 0, passed)}`;
    if (passed > 0) this.#lane.socket.write(bytes.subarray(0, passed));
    if (this.#hasClientEnded && this.#held.length === 0) this.#allPassed.resolve();
  }

  #fromServer(chunk: Buffer): void {
    const own = chunk.subarray(0, Math.max(0, this.#truth.length - this.#seen));
    this.#seen += own.length;
    for (const piece of inPieces(own, this.#way.serverCuts)) {
      const activity = this.#follower.activity();
      const isTooEarly = activity !== 'busy' && !isUnasked(piece.toString('latin1', 0, 1));
      if (isTooEarly && !this.#stream.isVague) throw new Error(`${activity} before ${piece.toString('latin1')}`);
      this.#follower.fromBackend(piece);
      this.#course += ` <${piece.toString('latin1')}`;
      if (this.#held.length > 0 && this.#follower.mayGoOn()) this.#fromClient(Buffer.alloc(0));
    }
  }
}

async function check(lane: Lane, stream: Stream, way: Way): Promise<void> {
  const bytes = Buffer.concat([...stream.messages, TAIL]);
  await lane.reset();
  const truth = truthOf(await lane.answerTo(bytes, isWhole));
  await lane.reset();
  const passage = new Passage(lane, stream, way, truth);
  const activity = await passage.play();
  // The answer to a Sync that a failed COPY may have taken, or not, may be still to come.
  const mayOwe = stream.isVague || stream.messages.some(([type]) => type === COPY_FAIL);
  if (mayOwe && truth.isOpen && activity === 'busy') return;
  const course = passage.course().replaceAll(/[^ -~]+/g, '~');
  expect(activity, course).toBe(truth.activity);
}

/** The server has not ended this one session with an error. */
function isCrash(error: unknown): boolean {
  if (!(error instanceof Error && error.message.startsWith(CLOSED))) return false;
  return !error.message.includes('FATAL') || /C57P0[23]/.test(error.message);
}

async function start(choice: BinariesChoice): Promise<LoginServer> {
  const lab = await startLoginServer(choice);
  await lab.run('create role app login');
  await lab.permit('host all app 127.0.0.1/32 trust');
  return lab;
}

describeOnEachPostgres('a session is idle when its server is', start, (lab) => {
  test.each(Array.from({ length: LANES }, (_, index) => index + 1))(
    'behind every stream that a client may send, in any pieces, and never before, lane %d',
    async () => {
      let lane = await Lane.again(lab.server);
      let crashes = 0;
      await fc.assert(
        fc.asyncProperty(clientStreams, ways, async (stream, way) => {
          try {
            await check(lane, stream, way);
          } catch (error) {
            lane.socket.destroy();
            lane = await Lane.again(lab.server);
            crashes += 1;
            if (!isCrash(error) || crashes > MOST_CRASHES) throw error;
            console.log(`PostgreSQL has crashed at this stream, or at one of another lane: ${fc.stringify(stream)}`);
          }
        }),
        { numRuns: Math.ceil(STREAMS / LANES), endOnFailure: true },
      );
      lane.socket.destroy();
    },
    60_000 + STREAMS * USUAL_MS,
  );
});
