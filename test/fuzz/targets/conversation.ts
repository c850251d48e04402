// Both directions of a session behind its startup packet, and what the follower makes of them.
import assert from 'node:assert/strict';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../src/wire/follow/session-memory.ts';
import { LoginTranscript } from '../../../src/wire/follow/login-transcript.ts';
import { WaitingBytes } from '../../../src/proxy/cancel/waiting-bytes.ts';
import { LastWords } from '../../../src/proxy/moves/last-words.ts';
import { aMessage } from '../../support/sockets/messages.ts';
import { backendView } from '../../property/wire/reference.ts';
import { Feed, piecesOf, type FuzzTarget } from '../target.ts';

const FROM_CLIENT = 'QPBDECSHXdcfpF';
const FROM_SERVER = 'RKSZECDTt123nsIANHGWdcvV';

export interface Words {
  readonly isClient: boolean;
  readonly bytes: Buffer;
}

/** An input as messages, of which some are whole by the rules, and some are any bytes. */
export function wordsIn(input: Uint8Array): readonly Words[] {
  const feed = new Feed(input);
  const all: Words[] = [];
  while (!feed.isEmpty()) {
    const form = feed.byte();
    const isClient = (form & 1) === 1;
    const types = isClient ? FROM_CLIENT : FROM_SERVER;
    const isRaw = (form & 14) === 14;
    const type = types.charAt(feed.byte() % types.length);
    const body = feed.bytes(feed.byte());
    all.push({ isClient, bytes: isRaw ? body : aMessage(type, body) });
  }
  return all;
}

/** The opposite, for seeds. */
function inputOf(...words: readonly (readonly [from: 'client' | 'server', type: string, body?: string])[]): Buffer {
  return Buffer.concat(
    words.map(([from, type, body = '']) => {
      const types = from === 'client' ? FROM_CLIENT : FROM_SERVER;
      return Buffer.from([from === 'client' ? 1 : 0, types.indexOf(type), body.length, ...Buffer.from(body, 'latin1')]);
    }),
  );
}

class Session {
  readonly memory = new SessionMemory();
  readonly follower = new SessionFollower(this.memory);
  readonly transcript = new LoginTranscript();

  constructor() {
    this.memory.begins(new Map([['TimeZone', 'UTC']]));
  }

  take(isClient: boolean, chunk: Uint8Array): void {
    if (isClient) this.follower.fromClient(chunk);
    else this.follower.fromBackend(chunk);
    if (isClient) this.transcript.fromClient(chunk);
    else this.transcript.fromBackend(chunk);
    // A chunk of a socket is overwritten by the next one.
    chunk.fill(0x5a);
  }

  view(): unknown {
    const { follower, memory, transcript } = this;
    return {
      activity: follower.activity(),
      key: follower.cancelKey(),
      standby: follower.isInHotStandby(),
      fatal: follower.fatal(),
      isTerminating: follower.isTerminating(),
      mayGoOn: follower.mayGoOn(),
      hasBatch: follower.hasBatch(),
      told: [...memory.told()],
      unnamed: memory.unnamed(),
      names: memory.texts.names(),
      login: transcript.login(),
      parameters: [...transcript.parameters()],
      isDone: transcript.isDone(),
    };
  }
}

function check(input: Uint8Array): void {
  const [whole, split, oneByOne] = [new Session(), new Session(), new SessionFollower()];
  const served: Buffer[] = [];
  for (const { isClient, bytes } of wordsIn(input)) {
    whole.take(isClient, new Uint8Array(bytes));
    for (const piece of piecesOf(bytes)) split.take(isClient, piece);
    assert.deepEqual(split.view(), whole.view());
    if (isClient) {
      assert(oneByOne.fromClientOneByOne(bytes) <= bytes.length);
      continue;
    }
    served.push(bytes);
    oneByOne.fromBackend(bytes);
  }
  const expected = backendView(Buffer.concat(served));
  assert.equal(oneByOne.isInHotStandby(), expected.isInHotStandby);
  assert.equal(oneByOne.fatal(), expected.fatal);
  if (!expected.isFollowing) assert.equal(oneByOne.activity(), 'unknown');
  else if (expected.transaction === undefined) assert.notEqual(oneByOne.activity(), 'idle');
  checkWaiting(input);
}

/** Bytes that wait, or are kept back, come out again: all of them, and in order. */
function checkWaiting(input: Uint8Array): void {
  const [whole, split, words] = [new WaitingBytes(), new WaitingBytes(), new LastWords()];
  const passed: Uint8Array[] = [];
  for (const { isClient, bytes } of wordsIn(input)) {
    if (!isClient) {
      passed.push(Buffer.from(words.take(bytes) ?? []));
      continue;
    }
    const said = [Buffer.from(whole.add(bytes) ?? [])];
    const saidSplit = piecesOf(bytes).map((piece) => Buffer.from(split.add(piece) ?? []));
    if (bytes.length % 5 === 0) {
      said.push(Buffer.from(whole.cancelFirst() ?? []));
      saidSplit.push(Buffer.from(split.cancelFirst() ?? []));
    }
    assert.deepEqual(Buffer.concat(saidSplit), Buffer.concat(said));
    assert.deepEqual(Buffer.from(split.bytes()), Buffer.from(whole.bytes()));
    assert.equal(split.isCancelling(), whole.isCancelling());
  }
  passed.push(Buffer.from(words.release() ?? []));
  const served = wordsIn(input).flatMap(({ isClient, bytes }) => (isClient ? [] : [bytes]));
  assert.deepEqual(Buffer.concat(passed), Buffer.concat(served));
}

const LOGIN = [
  ['server', 'R', '\0\0\0\0'],
  ['server', 'S', 'in_hot_standby\0off\0'],
  ['server', 'K', '\0\0\0\x2a\x01\x02\x03\x04'],
  ['server', 'Z', 'I'],
] as const;

export const conversation: FuzzTarget = {
  name: 'conversation',
  covers: ['wire/follow/', 'wire/messages/', 'proxy/cancel/waiting-bytes', 'proxy/moves/last-words'],
  seeds: [
    inputOf(...LOGIN, ['client', 'Q', 'select 1\0'], ['server', 'C', 'SELECT 1\0'], ['server', 'Z', 'T']),
    inputOf(...LOGIN, ['client', 'P', 's1\0select 1\0\0\0'], ['client', 'S'], ['server', '1'], ['server', 'Z', 'I']),
    inputOf(
      ...LOGIN,
      ['client', 'P', '\0set a.b = 1\0\0\x01\0\0\0\x19'],
      ['server', '1'],
      ['client', 'B', '\0\0\0\0\0\0\0\0'],
    ),
    inputOf(
      ...LOGIN,
      ['client', 'Q', 'copy t from stdin\0'],
      ['server', 'G', '\0\0\x01\0\0'],
      ['client', 'd', '1\n'],
      ['client', 'c'],
    ),
    inputOf(...LOGIN, ['client', 'E', '\0\0\0\0\0'], ['server', 'E', 'SERROR\0C42601\0Mno\0\0'], ['client', 'S']),
    inputOf(...LOGIN, ['client', 'F', '\0\0\0\x01'], ['server', 'V', '\xff\xff\xff\xff'], ['server', 'Z', 'I']),
    inputOf(...LOGIN, ['server', 'E', 'SFATAL\0VFATAL\0C57P01\0Mend\0\0']),
    inputOf(
      ['server', 'R', '\0\0\0\x0aSCRAM-SHA-256\0\0'],
      ['client', 'p', 'SCRAM-SHA-256\0\0\0\0\x0cn,,n=,r=abcd'],
      ['server', 'R', '\0\0\0\x0br=abcdefg,s=QSXCR+Q6sek8bf92,i=4096'],
      ['client', 'p', `c=biws,r=abcdefg,p=${'A'.repeat(43)}=`],
      ...LOGIN,
    ),
    inputOf(['server', 'R', '\0\0\0\x05abcd'], ['client', 'p', 'md50123456789abcdef0123456789abcdef\0'], ...LOGIN),
  ],
  words: [
    'in_hot_standby\0on\0',
    'C57P01\0',
    'VFATAL\0',
    'SFATAL\0',
    'prepare p as select 1\0',
    'deallocate all\0',
    'discard all\0',
    'set session a.b to 1\0',
    "select set_config('a.b', 'x', false)\0",
    '/* ',
    ' */',
    '--',
    '$$',
    "'",
    'execute p',
    ';',
    'begin;',
  ],
  check,
};
