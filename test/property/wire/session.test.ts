// A client, the proxy and a toy server with bytes under way in any pieces. The session is never called idle while the
// server has anything to lose. It is always idle once everything is answered.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import { aMessage, AUTHENTICATION_OK, readyForQuery } from '../../support/sockets/messages.ts';
import { OUTCOMES, ToyServer } from './toy-server.ts';
import type { Outcome } from './toy-server.ts';

interface Said {
  readonly type: string;
  readonly outcome: Outcome;
}

/** Messages whose loss does no harm: the server sends no answer, or only ReadyForQuery. */
const HARMLESS = /^[HdcfSX]$/;

class Dialogue {
  readonly follower = new SessionFollower();
  readonly server = new ToyServer();
  /**
   * The messages that the server has not read: each message with the number of its bytes that the proxy has not seen.
   */
  readonly #sent: { said: Said; hiddenBytes: number }[] = [];
  #toProxy = Buffer.alloc(0);
  #toClient = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);

  say(said: Said): void {
    const bytes = aMessage(said.type, 'QFPBdEDCf'.includes(said.type) ? Buffer.from('text\0') : Buffer.alloc(0));
    this.#toProxy = Buffer.concat([this.#toProxy, bytes]);
    this.#sent.push({ said, hiddenBytes: bytes.length });
  }

  moveFromClient(count: number): void {
    this.follower.fromClient(this.#toProxy.subarray(0, count));
    let moved = Math.min(count, this.#toProxy.length);
    this.#toProxy = this.#toProxy.subarray(count);
    for (const message of this.#sent) {
      const step = Math.min(moved, message.hiddenBytes);
      message.hiddenBytes -= step;
      moved -= step;
    }
    this.#check();
  }

  serve(): void {
    const next = this.#sent[0];
    if (next === undefined || next.hiddenBytes > 0) return;
    this.#sent.shift();
    this.#toClient = Buffer.concat([this.#toClient, this.server.take(next.said.type, next.said.outcome)]);
    this.#check();
  }

  moveToClient(count: number): void {
    this.follower.fromBackend(this.#toClient.subarray(0, count));
    this.#toClient = this.#toClient.subarray(count);
    this.#check();
  }

  settle(): void {
    this.moveFromClient(this.#toProxy.length);
    while (this.#sent.length > 0) this.serve();
    this.moveToClient(this.#toClient.length);
  }

  #check(): void {
    if (this.follower.activity() !== 'idle' || this.server.isOver()) return;
    if (!this.server.isIdle()) expect.fail('idle too early');
    // The messages that the proxy has begun to see and the server has not read. The rest counts as not sent yet.
    const pending = this.#sent.filter(({ said, hiddenBytes }) => !HARMLESS.test(said.type) && hiddenBytes === 0);
    if (pending.length > 0) expect(pending).toEqual([]);
  }
}

const noCopyIn = OUTCOMES.filter((outcome) => outcome !== 'copy-in');
const anything: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ type: fc.constantFrom(...'QF'.split('')), outcome: fc.constantFrom(...OUTCOMES) }),
  fc.record({ type: fc.constantFrom(...'PBDECSSHdcf'.split('')), outcome: fc.constantFrom(...noCopyIn) }),
);
const moves = fc.array(
  fc.tuple(fc.constantFrom('client' as const, 'server' as const, 'back' as const), fc.integer({ min: 1, max: 30 })),
  {
    maxLength: 60,
  },
);

function move(dialogue: Dialogue, [where, count]: readonly ['client' | 'server' | 'back', number]): void {
  if (where === 'client') dialogue.moveFromClient(count);
  else if (where === 'server') dialogue.serve();
  else dialogue.moveToClient(count);
}

test('no client messages, in any order, make the session idle too early', () => {
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 20 }), moves, (said, moved) => {
      const dialogue = new Dialogue();
      for (const one of said) dialogue.say(one);
      for (const one of moved) move(dialogue, one);
      dialogue.settle();
    }),
    { numRuns: 2000 },
  );
});

const outcomes = fc.constantFrom(...noCopyIn);
const ends: fc.Arbitrary<Said> = fc.record({ type: fc.constantFrom('c', 'f'), outcome: fc.constant('done' as const) });
const data: fc.Arbitrary<Said[]> = fc.array(
  fc.record({ type: fc.constant('d'), outcome: fc.constantFrom('done', 'done', 'error') }),
  { maxLength: 3 },
);

/** One whole request of a driver; the parts of a COPY are sent one after another. */
const requests: fc.Arbitrary<readonly (readonly Said[])[]> = fc.oneof(
  outcomes.map((outcome) => [[{ type: 'Q', outcome }]]),
  fc
    .array(fc.record({ type: fc.constantFrom(...'PBDEHC'.split('')), outcome: outcomes }), { maxLength: 5 })
    .map((extended) => [[...extended, { type: 'S', outcome: 'done' as const }]]),
  fc.tuple(data, ends).map(([parts, end]) => [[{ type: 'Q', outcome: 'copy-in' as const }], parts, [end]]),
  // libpq sends a Sync with the Execute, which the COPY ignores, and another one after the data.
  fc.tuple(data, ends).map(([parts, end]) => {
    const sync: Said = { type: 'S', outcome: 'done' };
    const begin = 'PBD'.split('').map((type): Said => ({ type, outcome: 'done' }));
    return [[...begin, { type: 'E', outcome: 'copy-in' as const }, sync], parts, [end, sync]];
  }),
);

test('a driver that waits for its answers is idle whenever its server is, also with COPY by either protocol', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(requests, moves), { maxLength: 6 }), (said) => {
      const dialogue = new Dialogue();
      dialogue.settle();
      for (const [request, moved] of said) {
        for (const part of request) {
          for (const one of part) dialogue.say(one);
          for (const one of moved) move(dialogue, one);
          dialogue.settle();
        }
        expect(dialogue.follower.activity() === 'idle').toBe(dialogue.server.isIdle());
        expect(dialogue.follower.activity()).toMatch(/^(?:idle|in_transaction|in_failed_transaction)$/);
      }
    }),
    { numRuns: 1000 },
  );
});

test('a driver that pipelines without a COPY is idle at the end, if its server is', () => {
  const pipelined = fc.oneof(
    outcomes.map((outcome): Said[] => [{ type: 'Q', outcome }]),
    fc
      .array(fc.record({ type: fc.constantFrom(...'PBDEHC'.split('')), outcome: outcomes }), { maxLength: 5 })
      .map((extended): Said[] => [...extended, { type: 'S', outcome: 'done' }]),
  );
  fc.assert(
    fc.property(fc.array(pipelined, { maxLength: 8 }), moves, (said, moved) => {
      const dialogue = new Dialogue();
      for (const one of said.flat()) dialogue.say(one);
      for (const one of moved) move(dialogue, one);
      dialogue.settle();
      expect(dialogue.follower.activity() === 'idle').toBe(dialogue.server.isIdle());
    }),
    { numRuns: 1000 },
  );
});
