// For every cut of a stream, the followers report the same as the simple parser for every prefix.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { BackendFollower } from '../../../src/wire/follow/backend-follower.ts';
import { ClientFollower } from '../../../src/wire/follow/client-follower.ts';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import { UnansweredMessages } from '../../../src/wire/follow/unanswered.ts';
import {
  AUTHENTICATION_OK,
  COMMAND_COMPLETE,
  QUERY,
  aMessage,
  aNumber,
  errorOf,
  readyForQuery,
} from '../../support/sockets/messages.ts';
import { backendView, CLIENT_SIZES, parse } from './reference.ts';
import type { BackendView } from './reference.ts';

const bodies = (maxLength: number, minLength = 0): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength, maxLength });
const ofTypes = (types: string, maxLength: number, minLength = 0): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.constantFrom(...types.split('')), bodies(maxLength, minLength))
    .map(([type, body]) => aMessage(type, body));

const severities = fc.constantFrom('ERROR', 'FATAL', 'PANIC', 'WARNING');
const texts = fc.string({ maxLength: 90 }).map((text) => text.replaceAll('\0', ''));
const errors = fc
  .tuple(severities, fc.option(severities), fc.constantFrom('57P01', '57P03', '53300', '42601'), texts)
  .map(([local, plain, code, text]) =>
    errorOf([`S${local}`, ...(plain === null ? [] : [`V${plain}`]), `C${code}`, `M${text}`]),
  );
const parameters = fc
  .tuple(fc.constantFrom('in_hot_standby', 'TimeZone', 'in_hot_standby_'), fc.constantFrom('on', 'off', '', 'only'))
  .map(([name, value]) => aMessage('S', Buffer.from(`${name}\0${value}\0`)));

const backendMessages = fc.oneof(
  ofTypes('DdTVNAt', 60),
  ofTypes('123Insc', 0),
  ofTypes('GHW', 10, 3),
  ofTypes('Cv', 10, 1),
  fc
    .tuple(fc.constantFrom(0, 3, 10), bodies(8))
    .map(([code, body]) => aMessage('R', Buffer.concat([aNumber(code), body]))),
  fc.tuple(fc.integer(), bodies(256, 4)).map(([id, secret]) => aMessage('K', Buffer.concat([aNumber(id), secret]))),
  fc.constantFrom('I', 'T', 'E').map((status) => aMessage('Z', Buffer.from(status))),
  parameters,
  errors,
  errors,
);
const clientMessages = fc.oneof(ofTypes('QFPBd', 60), ofTypes('DECf', 20), ofTypes('SXHc', 0), ofTypes('p', 40));

/** A stream, sometimes with a changed byte or foreign bytes at its end. */
function streamsOf(messages: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const whole = fc.array(messages, { maxLength: 12 }).map((parts) => Buffer.concat(parts));
  const spoilt = fc.tuple(whole, fc.nat(), fc.nat({ max: 255 })).map(([stream, at, byte]) => {
    const copy = Buffer.from(stream);
    if (copy.length > 0) copy[at % copy.length] = byte;
    return copy;
  });
  const foreign = fc.tuple(whole, bodies(40)).map((parts) => Buffer.concat(parts));
  return fc.oneof({ weight: 3, arbitrary: whole }, spoilt, foreign);
}

/** The stream in pieces. Each buffer is overwritten as soon as the follower has read it. */
function inPieces(stream: Buffer, cuts: readonly number[], follow: (piece: Uint8Array, end: number) => void): void {
  const places = [...new Set(cuts.map((cut) => cut % (stream.length + 1)))].toSorted((one, other) => one - other);
  let from = 0;
  for (const to of [...places, stream.length]) {
    const piece = new Uint8Array(stream.subarray(from, to));
    follow(piece, to);
    piece.fill(0x5a);
    from = to;
  }
}

function viewOf(follower: BackendFollower): BackendView {
  const key = follower.cancelKey();
  return {
    isFollowing: follower.isFollowing(),
    isAtBoundary: follower.isAtBoundary(),
    isAuthenticated: follower.isAuthenticated(),
    transaction: follower.transaction(),
    cancelKey: key && `${key.processId} ${Buffer.from(key.secret, 'latin1').toString('hex')}`,
    isInHotStandby: follower.isInHotStandby(),
    fatal: follower.fatal(),
  };
}

test('a backend stream with every single cut', () => {
  fc.assert(
    fc.property(streamsOf(backendMessages), (stream) => {
      const whole = backendView(stream);
      for (let cut = 0; cut <= stream.length; cut += 1) {
        const follower = new BackendFollower(new UnansweredMessages());
        follower.walk(stream.subarray(0, cut));
        expect(viewOf(follower)).toEqual(backendView(stream.subarray(0, cut)));
        follower.walk(stream.subarray(cut));
        expect(viewOf(follower)).toEqual(whole);
      }
    }),
    { numRuns: 60 },
  );
});

test('a backend stream in any pieces', () => {
  fc.assert(
    fc.property(streamsOf(backendMessages), fc.array(fc.nat(), { maxLength: 40 }), (stream, cuts) => {
      const follower = new BackendFollower(new UnansweredMessages());
      inPieces(stream, cuts, (piece, end) => {
        follower.walk(piece);
        expect(viewOf(follower)).toEqual(backendView(stream.subarray(0, end)));
      });
    }),
    { numRuns: 500 },
  );
});

test('a client stream in any pieces', () => {
  fc.assert(
    fc.property(streamsOf(clientMessages), fc.array(fc.nat(), { maxLength: 40 }), (stream, cuts) => {
      const follower = new ClientFollower(new UnansweredMessages());
      inPieces(stream, cuts, (piece, end) => {
        follower.walk(piece);
        const { messages, isFollowing, isAtBoundary } = parse(stream.subarray(0, end), CLIENT_SIZES);
        const types = messages.map(({ type }) => type).join('');
        expect({
          isFollowing: follower.isFollowing(),
          isAtBoundary: follower.isAtBoundary(),
          isTerminating: follower.isTerminating(),
        }).toEqual({
          isFollowing,
          isAtBoundary,
          isTerminating: types.includes('X'),
        });
      });
    }),
    { numRuns: 500 },
  );
});

test('noise in either direction never throws and never loops forever', () => {
  const noise = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });
  fc.assert(
    fc.property(noise, (chunks) => {
      const follower = new SessionFollower();
      for (const [index, chunk] of chunks.entries()) {
        if (index % 2 === 0) follower.fromBackend(chunk);
        else expect(follower.fromClientOneByOne(chunk)).toBeLessThanOrEqual(chunk.length);
      }
      expect(follower.activity()).not.toBe('idle');
    }),
  );
});

function slices(stream: Buffer, follow: (slice: Buffer) => void): void {
  for (let at = 0; at < stream.length; at += 1) follow(stream.subarray(at, at + 1));
}

// If a follower gathered or read bytes again for each slice, this test would take minutes at least.
test('scenario 37: one-byte slices of a long message take linear time in either direction', () => {
  const follower = new SessionFollower();
  const long = Buffer.alloc(1_000_000, 7);
  follower.fromBackend(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  slices(Buffer.concat([QUERY, aMessage('Q', long)]), (slice) => follower.fromClient(slice));
  expect(follower.activity()).toBe('busy');
  slices(
    Buffer.concat([COMMAND_COMPLETE, readyForQuery('I'), aMessage('D', long), COMMAND_COMPLETE, readyForQuery('T')]),
    (slice) => follower.fromBackend(slice),
  );
  expect(follower.activity()).toBe('in_transaction');
});
