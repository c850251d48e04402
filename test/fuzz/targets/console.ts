// A client of the console, from its first byte: packets, statements, the extended protocol.
import assert from 'node:assert/strict';
import { converse } from '../../../src/console/conversation.ts';
import type { ReaderCheck } from '../../../src/console/login.ts';
import { statementsOf } from '../../../src/console/statements.ts';
import { aMessage, BIND, EXECUTE, PARSE, SYNC } from '../../support/sockets/messages.ts';
import { SSL_REQUEST, aStartup } from '../../support/sockets/packets.ts';
import { aConsoleSources } from '../../support/values/console.ts';
import { Feed, piecesOf, textOf, type FuzzTarget } from '../target.ts';

const STARTUP = aStartup({ user: 'x', database: 'pointsman' });
const OPEN: ReaderCheck = { kind: 'open' };
const TYPES = 'QQQPBDECSHXFp';
const SOURCES = aConsoleSources();
/** Answers to one message: those to SHOW have some hundred bytes a row. */
const MOST_ANSWER = 200_000;

async function answersTo(chunks: readonly Uint8Array[]): Promise<Buffer> {
  const sent: Uint8Array[] = [];
  const send = (bytes: Uint8Array): Promise<void> => Promise.resolve(void sent.push(bytes));
  async function* arriving(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  await converse(arriving(), { sources: SOURCES, access: () => Promise.resolve(OPEN), send, onLogin: () => {} });
  return Buffer.concat(sent);
}

/** Messages, or with an odd first byte any bytes instead of the startup. */
function bytesOf(input: Uint8Array): { readonly bytes: Buffer; readonly count: number } {
  const feed = new Feed(input);
  if ((feed.byte() & 1) === 1) return { bytes: feed.rest(), count: 1 };
  const all: Buffer[] = [STARTUP];
  while (!feed.isEmpty()) {
    const type = TYPES.charAt(feed.byte() % TYPES.length);
    const body = feed.bytes(feed.byte());
    all.push(aMessage(type, type === 'Q' ? Buffer.concat([body, Buffer.of(0)]) : body));
  }
  return { bytes: Buffer.concat(all), count: all.length };
}

async function check(input: Uint8Array): Promise<void> {
  const { bytes, count } = bytesOf(input);
  const whole = await answersTo([bytes]);
  assert.deepEqual(await answersTo(piecesOf(bytes)), whole);
  assert(whole.length <= count * MOST_ANSWER);
  for (const { words } of statementsOf(textOf(input))) assert(words.length > 0);
}

function inputOf(...messages: readonly (readonly [type: string, body?: string])[]): Buffer {
  const parts = messages.map(([type, body = '']) =>
    Buffer.from([TYPES.indexOf(type), body.length, ...Buffer.from(body, 'latin1')]),
  );
  return Buffer.concat([Buffer.of(0), ...parts]);
}

const bodyOf = (message: Buffer): string => message.toString('latin1', 5);
const SHOWS = [
  'members',
  'pools',
  'sessions',
  'stats',
  'lists',
  'version',
  'config',
  'branches',
  'help',
  'server_version',
];

export const consoleTarget: FuzzTarget = {
  name: 'console',
  covers: ['console/', 'wire/messages/'],
  seeds: [
    ...SHOWS.map((name) => inputOf(['Q', `show ${name}`])),
    inputOf(['Q', 'begin; set a = 1; select 1; commit'], ['X']),
    inputOf(
      ['P', '\0show pools\0\0\0'],
      ['B', bodyOf(BIND)],
      ['D', 'P\0'],
      ['E', '\0\0\0\0\x01'],
      ['E', bodyOf(EXECUTE)],
      ['S'],
    ),
    inputOf(['P', 'a\0select 1\0\0\0'], ['D', 'Sa\0'], ['C', 'Sa\0'], ['S']),
    Buffer.concat([Buffer.of(1), SSL_REQUEST, STARTUP, PARSE, SYNC]),
  ],
  words: [
    ...SHOWS,
    'show ',
    ';',
    "'",
    '"',
    '$$',
    '$a$',
    '/*',
    '*/',
    '--',
    '\n',
    "E'\\",
    'set ',
    ' to ',
    ' = ',
    'begin',
    'rollback',
    'select ',
    'current_setting(',
    'pg_catalog.',
    'discard all',
    'reset ',
    'U&"',
    ' -- ',
    'version()',
    ' as ',
    ',',
    '(',
    ')',
    '\0',
  ],
  check,
};
