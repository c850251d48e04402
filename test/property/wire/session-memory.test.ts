// However a stream is split, a session remembers the same, and its follower sees the same as without a memory.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../src/wire/follow/session-memory.ts';
import {
  BIND,
  EXECUTE,
  QUERY,
  SYNC,
  aMessage,
  parameterStatus,
  readyForQuery,
} from '../../support/sockets/messages.ts';
import { aParse } from '../../support/sockets/wire-client.ts';

const text = fc.stringMatching(/^[a-z .=']{0,30}$/);
const client = fc.array(
  fc.oneof(
    fc
      .tuple(fc.constantFrom('', '', 's1'), text, fc.array(fc.nat(), { maxLength: 2 }))
      .map((parse) => aParse(...parse)),
    fc.constantFrom(QUERY, BIND, EXECUTE, SYNC, aMessage('C', Buffer.from('S\0')), aMessage('C', Buffer.from('Ss1\0'))),
    text.map((sql) => aMessage('Q', Buffer.from(`set a.b = ${sql}\0`))),
    // Without the ends of their texts.
    fc
      .constantFrom('C', 'CS', 'P', 'Pset a.b = 1', "Pset_config('a.c', '1', false)")
      .map((cut) => aMessage(cut.charAt(0), Buffer.from(cut.slice(1)))),
  ),
  { maxLength: 10 },
);
const backend = fc.array(
  fc.oneof(
    fc
      .tuple(fc.constantFrom('TimeZone', 'in_hot_standby', 'x'), fc.constantFrom('on', 'off', '', 'UTC'))
      .map((parameter) => parameterStatus(...parameter)),
    fc.constantFrom(readyForQuery('I'), readyForQuery('T')),
  ),
  { maxLength: 10 },
);

function inPieces(stream: Buffer, cuts: readonly number[], take: (piece: Uint8Array) => void): void {
  const ends = [...cuts.map((cut) => cut % (stream.length + 1)), stream.length].toSorted((a, b) => a - b);
  let from = 0;
  for (const end of ends) {
    const piece = new Uint8Array(stream.subarray(from, end));
    take(piece);
    piece.fill(0x5a);
    from = end;
  }
}

test('the same for every split', () => {
  fc.assert(
    fc.property(client, backend, fc.array(fc.nat(), { maxLength: 8 }), (asked, answered, cuts) => {
      const whole = new SessionMemory();
      const split = new SessionMemory();
      for (const memory of [whole, split]) memory.begins(new Map([['x', 'at login']]));
      const plain = new SessionFollower();
      const follower = new SessionFollower(split);
      for (const one of [new SessionFollower(whole), plain]) {
        one.fromClient(Buffer.concat(asked));
        one.fromBackend(Buffer.concat(answered));
      }
      inPieces(Buffer.concat(asked), cuts, (piece) => follower.fromClient(piece));
      inPieces(Buffer.concat(answered), cuts, (piece) => follower.fromBackend(piece));
      expect([...split.told()]).toEqual([...whole.told()]);
      expect(split.unnamed()).toEqual(whole.unnamed());
      expect(split.texts.names()).toEqual(whole.texts.names());
      expect([follower.activity(), follower.isInHotStandby()]).toEqual([plain.activity(), plain.isInHotStandby()]);
    }),
  );
});
