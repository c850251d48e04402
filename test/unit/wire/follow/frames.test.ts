import { expect, test } from 'vitest';
import { FrameWalker, grammarOf } from '../../../../src/wire/follow/frames.ts';
import { aMessage } from '../../../support/sockets/messages.ts';

const GRAMMAR = grammarOf([
  { types: 'dD', longest: 1 << 29 },
  { types: 'w', longest: 100, wanted: 3 },
  { types: 'z', longest: 4, wanted: 0 },
]);

function aWalker(isSensible = true) {
  const reported: string[] = [];
  const rests: string[] = [];
  class Walker extends FrameWalker {
    protected override report(type: number, bytes: Uint8Array, at: number, size: number): boolean {
      reported.push(String.fromCharCode(type, ...bytes.subarray(at, at + size)));
      return isSensible;
    }

    protected override reportRest(type: number, bytes: Uint8Array, from: number, to: number): void {
      rests.push(String.fromCharCode(type) + Buffer.from(bytes.subarray(from, to)).toString('latin1'));
    }
  }
  return { walker: new Walker(GRAMMAR), reported, rests };
}

test('only wanted messages are reported, with no more than the wanted bytes', () => {
  const { walker, reported } = aWalker();
  walker.walk(
    Buffer.concat([
      aMessage('d', Buffer.from('data')),
      aMessage('w', Buffer.from('abcdef')),
      aMessage('w', Buffer.from('x')),
      aMessage('z'),
    ]),
  );
  expect(reported).toEqual(['wabc', 'wx', 'z']);
  expect(walker.isAtBoundary()).toBe(true);
  expect(String.fromCharCode(walker.latestType())).toBe('z');
});

test('a message is reported as soon as its wanted bytes are there, before its end', () => {
  const { walker, reported } = aWalker();
  walker.walk(aMessage('w', Buffer.from('abcdef')).subarray(0, 8));
  expect(reported).toEqual(['wabc']);
  expect(walker.isAtBoundary()).toBe(false);
  walker.walk(Buffer.from('def'));
  expect(walker.isAtBoundary()).toBe(true);
});

test('the parts of a cut are joined: header, wanted bytes, the rest', () => {
  const { walker, reported } = aWalker();
  const stream = Buffer.concat([aMessage('w', Buffer.from('abcdef')), aMessage('z'), aMessage('d')]);
  for (const byte of stream) walker.walk(Uint8Array.of(byte));
  expect(reported).toEqual(['wabc', 'z']);
  expect(walker.isAtBoundary()).toBe(true);
});

test.each([
  [0, ['wdef']],
  [4, ['wdef']],
  [8, ['wdef']],
  [9, ['wd', 'wef']],
  [11, ['wdef']],
])('what is behind the wanted bytes is told in parts, and no empty one: cut at %d', (at, expected) => {
  const { walker, rests } = aWalker();
  const stream = Buffer.concat([
    aMessage('w', Buffer.from('abcdef')),
    aMessage('w', Buffer.from('abc')),
    aMessage('w', Buffer.from('x')),
    aMessage('z'),
  ]);
  walker.walk(stream.subarray(0, at));
  walker.walk(stream.subarray(at, at));
  walker.walk(stream.subarray(at));
  expect(rests).toEqual(expected);
});

test('a report keeps no bytes of a reused chunk', () => {
  const { walker, reported } = aWalker();
  const message = aMessage('w', Buffer.from('abc'));
  const buffer = Buffer.from(message.subarray(0, 6));
  walker.walk(buffer);
  buffer.fill(0);
  walker.walk(message.subarray(6));
  expect(reported).toEqual(['wabc']);
});

test('a message of many chunks is skipped whatever it contains', () => {
  const { walker, reported } = aWalker();
  const chunk = Buffer.alloc(65_536, aMessage('z'));
  const header = Buffer.from([0x64, 0, 0, 0, 0]);
  header.writeInt32BE(4 + 100 * chunk.length, 1);
  walker.walk(header);
  for (let count = 0; count < 100; count += 1) {
    expect(walker.isAtBoundary()).toBe(false);
    walker.walk(chunk);
  }
  expect(walker.isAtBoundary()).toBe(true);
  expect(reported).toEqual([]);
});

test.each([
  ['an unknown type', aMessage('y')],
  ['the type 0', Buffer.alloc(5)],
  ['a length below its own word', Buffer.from([0x64, 0, 0, 0, 3])],
  ['a negative length', Buffer.from([0x64, 0xff, 0xff, 0xff, 0xff])],
  ['a length beyond the type', aMessage('z', Buffer.from('x'))],
  ['a length beyond the type, the payload to come', Buffer.from([0x77, 0, 0, 0, 101])],
])('%s ends the parsing for good, in one piece and in single bytes', (_, nonsense) => {
  const alone = aWalker();
  alone.walker.walk(Buffer.concat([aMessage('d'), nonsense]));
  expect(alone.walker.isFollowing()).toBe(false);
  const stream = Buffer.concat([aMessage('d'), nonsense, aMessage('z')]);
  const whole = aWalker();
  whole.walker.walk(stream);
  const cut = aWalker();
  for (const byte of stream) cut.walker.walk(Uint8Array.of(byte));
  for (const { walker, reported } of [whole, cut]) {
    expect(walker.isFollowing()).toBe(false);
    expect(walker.isAtBoundary()).toBe(false);
    walker.walk(aMessage('z'));
    expect(reported).toEqual([]);
  }
});

test('a report of nonsense ends the parsing', () => {
  const { walker, reported } = aWalker(false);
  walker.walk(Buffer.concat([aMessage('z'), aMessage('z')]));
  expect(reported).toEqual(['z']);
  expect(walker.isFollowing()).toBe(false);
});

test('nothing is told of a message whose report was nonsense', () => {
  const { walker, rests } = aWalker(false);
  const message = aMessage('w', Buffer.from('abcdef'));
  for (const [from, to] of [
    [0, 7],
    [7, 8],
    [8, 11],
  ])
    walker.walk(message.subarray(from, to));
  expect([walker.isFollowing(), rests]).toEqual([false, []]);
});

test.each([
  ['without a payload', aMessage('z'), ['z']],
  ['that is wanted as a whole', aMessage('w', Buffer.from('abc')), ['wabc']],
  ['of which a part is wanted', aMessage('w', Buffer.from('abcdef')), ['wabc']],
  ['that is skipped', aMessage('d', Buffer.from('data')), []],
])('a message %s goes on to its end, and no other one begins behind it, wherever it is cut', (_, message, expected) => {
  const stream = Buffer.concat([message, aMessage('D'), aMessage('z')]);
  for (let cut = 1; cut <= message.length; cut += 1) {
    const { walker, reported } = aWalker();
    const asked: string[] = [];
    const mayBegin = (type: number): boolean => {
      asked.push(String.fromCharCode(type));
      return type !== 0x44;
    };
    expect(walker.walkWhile(stream.subarray(0, cut), mayBegin)).toBe(cut);
    expect(walker.walkWhile(stream.subarray(cut), mayBegin)).toBe(message.length - cut);
    expect({ asked, reported }).toEqual({ asked: [message.toString('latin1', 0, 1), 'D'], reported: expected });
  }
});

test('what may begin is walked to the end of the bytes, and no further than an invalid header', () => {
  const { walker, reported } = aWalker();
  const stream = Buffer.concat([aMessage('z'), aMessage('w', Buffer.from('abcdef')), aMessage('d')]);
  expect(walker.walkWhile(stream, () => true)).toBe(stream.length);
  expect(reported).toEqual(['z', 'wabc']);
  const invalid = aMessage('y');
  expect(walker.walkWhile(Buffer.concat([aMessage('z'), invalid, aMessage('z')]), () => true)).toBe(10);
  expect([walker.isFollowing(), Buffer.from(walker.invalidHeader())]).toEqual([false, invalid]);
  expect(walker.walkWhile(aMessage('z'), () => true)).toBe(0);
});
