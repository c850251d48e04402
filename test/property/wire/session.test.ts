// Client, proxy and a toy server, bytes under way between them in any pieces: the session is never called idle while the server has
// anything to lose, and always once everything is answered.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SessionFollower } from '../../../src/wire/session-follower.ts';
import { aMessage, AUTHENTICATION_OK, readyForQuery } from '../../support/sockets/messages.ts';
import { OUTCOMES, ToyServer } from './toy-server.ts';
import type { Outcome } from './toy-server.ts';

interface Said {
  readonly type: string;
  readonly outcome: Outcome;
}

/** Losing these loses nothing: the server would not even answer, or only that it is ready. */
const HARMLESS = /^[HdcfSX]$/;

class Dialogue {
  readonly follower = new SessionFollower();
  readonly server = new ToyServer();
  /** What the server has not yet read: message and how many of its bytes the proxy has not seen. */
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
    if (this.follower.activity() !== 'idle') return;
    expect(this.server.isIdle()).toBe(true);
    // What the proxy has begun to see and the server has not read. The rest is not sent yet, as far as anybody knows.
    const pending = this.#sent.filter(({ said, hiddenBytes }) => !HARMLESS.test(said.type) && hiddenBytes === 0);
    expect(pending).toEqual([]);
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

test('whatever a client says, in whatever order, it is never called idle too early', () => {
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

/** One request of a driver, whole; the parts of a COPY are said one after another. */
const requests: fc.Arbitrary<readonly (readonly Said[])[]> = fc.oneof(
  outcomes.map((outcome) => [[{ type: 'Q', outcome }]]),
  fc
    .array(fc.record({ type: fc.constantFrom(...'PBDEHC'.split('')), outcome: outcomes }), { maxLength: 5 })
    .map((extended) => [[...extended, { type: 'S', outcome: 'done' as const }]]),
  fc.tuple(data, ends).map(([parts, end]) => [[{ type: 'Q', outcome: 'copy-in' as const }], parts, [end]]),
  // As libpq does it: a Sync with the Execute, which the COPY ignores, and one behind the data.
  fc.tuple(data, ends).map(([parts, end]) => {
    const sync: Said = { type: 'S', outcome: 'done' };
    const begin = 'PBD'.split('').map((type): Said => ({ type, outcome: 'done' }));
    return [[...begin, { type: 'E', outcome: 'copy-in' as const }, sync], parts, [end, sync]];
  }),
);

test('a driver that waits for its answers is idle whenever its server is, COPY by either protocol included', () => {
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

test('a driver that pipelines without a COPY is idle in the end, if its server is', () => {
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
