import { beforeEach, describe, expect, it } from 'vitest';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { StatementWatch } from '../../../../src/wire/follow/statement-watch.ts';

const ENCODER = new TextEncoder();

function message(type: string, body: string | Uint8Array = ''): Uint8Array {
  const payload = typeof body === 'string' ? ENCODER.encode(body) : body;
  const bytes = new Uint8Array(5 + payload.length);
  bytes[0] = type.charCodeAt(0);
  new DataView(bytes.buffer).setUint32(1, payload.length + 4);
  bytes.set(payload, 5);
  return bytes;
}

const query = (text: string): Uint8Array => message('Q', `${text}\0`);
const parse = (name: string, text: string): Uint8Array => message('P', `${name}\0${text}\0\0\0`);
const bind = (statement: string): Uint8Array => message('B', `\0${statement}\0\0\0\0\0\0\0`);
const tag = (text: string): Uint8Array => message('C', `${text}\0`);
const READY = message('Z', 'I');

let watch: StatementWatch;
let follower: SessionFollower;
beforeEach(() => {
  watch = new StatementWatch();
  const memory = new SessionMemory();
  memory.watch = watch;
  follower = new SessionFollower(memory);
});

it('a text without its end is not known', () => {
  watch.queries(Buffer.from('show a\0'), 0, 6);
  expect(watch.effect()).toBe('dirty');
});

it('is clean at first, and unsure of an unnamed statement of before', () => {
  expect(watch.effect()).toBe('clean');
  follower.fromClient(bind(''));
  expect(watch.effect()).toBe('unsure');
});

describe('simple statements', () => {
  it('of a pool that validates a connection are clean', () => {
    follower.fromClient(query('SELECT 1'));
    for (const bytes of [message('T', 'xx'), message('D', 'xx'), tag('SELECT 1'), READY]) follower.fromBackend(bytes);
    expect(watch.effect()).toBe('clean');
  });

  it('are dirty by the tag of the server, whatever the text', () => {
    follower.fromClient(query('SELECT a FROM b'));
    expect(watch.effect()).toBe('unsure');
    follower.fromBackend(tag('SET'));
    expect(watch.effect()).toBe('dirty');
  });

  it('count until the state of the session is known', () => {
    follower.fromClient(query('SET a = 1'));
    follower.fromClient(query('SELECT 1'));
    follower.fromBackend(READY);
    expect(watch.effect()).toBe('dirty');
    watch.forget(true);
    expect(watch.effect()).toBe('clean');
  });

  it('trust the name of a function once the search_path is known', () => {
    follower.fromClient(query('SELECT now()'));
    expect(watch.effect()).toBe('unsure');
    watch.forget(true);
    follower.fromClient(query('SELECT now()'));
    expect(watch.effect()).toBe('clean');
    watch.forget(false);
    follower.fromClient(query('SELECT now()'));
    expect(watch.effect()).toBe('unsure');
  });

  it('may come in any chunks', () => {
    for (const byte of query('LISTEN x')) follower.fromClient(Uint8Array.of(byte));
    expect(watch.effect()).toBe('dirty');
    watch.forget(true);
    for (const byte of tag('SET')) follower.fromBackend(Uint8Array.of(byte));
    expect(watch.effect()).toBe('dirty');
  });

  it.each(['x'.repeat(9_000), 'ä'.repeat(5_000)])('are dirty when their text is too long to be read', (text) => {
    follower.fromClient(query(`SELECT '${text}'`));
    expect(watch.effect()).toBe('dirty');
  });
});

describe('a text that has no end in its message is dirty,', () => {
  it.each([
    ['whatever comes behind it', [message('Q', 'SELECT 1'), message('S')]],
    ['also when nothing does', [message('Q', 'SELECT 1')]],
  ])('%s', (_name, messages) => {
    watch.forget(true);
    follower.fromClient(Buffer.concat(messages));
    expect(watch.effect()).toBe('dirty');
  });
});

it.each([
  [8_192, 'clean'],
  [8_193, 'dirty'],
])('a text of %d bytes is %s', (size, effect) => {
  follower.fromClient(query('SELECT 1'.padEnd(size)));
  expect(watch.effect()).toBe(effect);
});

describe('the extended protocol', () => {
  it.each([127, 128])('is unsure with a portal whose name is too long to be read: %d bytes', (size) => {
    follower.fromClient(parse('', 'SELECT 1'));
    follower.fromClient(message('B', `${'p'.repeat(size)}\0\0\0\0\0\0\0\0`));
    expect(watch.effect()).toBe('unsure');
  });

  it('is unsure with a portal whose name has no end in its chunk, which begins with that of another text', () => {
    const text = query('SELECT 1');
    follower.fromClient(parse('', 'SELECT 1'));
    follower.fromClient(text.subarray(0, -1));
    const portal = message('B', `${'p'.repeat(200)}\0\0\0\0\0\0\0\0`).subarray(0, 180);
    follower.fromClient(Buffer.concat([text.subarray(-1), portal]));
    expect(watch.effect()).toBe('unsure');
  });

  it('leaves a statement with a name behind', () => {
    follower.fromClient(parse('s1', 'SELECT 1'));
    expect(watch.effect()).toBe('dirty');
  });

  it('may run an unnamed statement of before again', () => {
    follower.fromClient(parse('', 'SELECT f()'));
    watch.forget(true);
    follower.fromClient(bind(''));
    expect(watch.effect()).toBe('unsure');
  });

  it('is clean with a clean unnamed statement', () => {
    follower.fromClient(parse('', 'SELECT 1'));
    follower.fromClient(bind(''));
    follower.fromClient(message('E', '\0\0\0\0\0'));
    follower.fromClient(message('S'));
    follower.fromBackend(tag('SELECT 1'));
    expect(watch.effect()).toBe('clean');
  });

  it('is unsure with a statement that has a name, also beside a clean one', () => {
    follower.fromClient(parse('', 'SELECT 1'));
    follower.fromClient(bind('s1'));
    expect(watch.effect()).toBe('unsure');
  });

  it.each([
    ['Query', query('SELECT 1'), true],
    ['Parse without a name', parse('', 'SELECT 1'), true],
    ['Parse with a name', parse('s1', 'SELECT 1'), false],
    ['Bind', bind(''), false],
  ] as const)('%s: whether the unnamed statement is a new one', (_name, bytes, isNew) => {
    follower.fromClient(bytes);
    expect(watch.hasNewUnnamed()).toBe(isNew);
    watch.forget(true);
    expect(watch.hasNewUnnamed()).toBe(false);
  });

  it('is dirty when a statement is closed or a function is called', () => {
    follower.fromClient(message('C', 'Ss1\0'));
    expect(watch.effect()).toBe('dirty');
    watch.forget(true);
    follower.fromClient(message('C', 'P\0'));
    expect(watch.effect()).toBe('clean');
    follower.fromClient(message('F', 'x'));
    expect(watch.effect()).toBe('dirty');
  });
});

const isVoid = (): boolean => watch.transaction.isVoid(() => undefined);

describe('an unnamed statement without a telling word', () => {
  it('is known in its transaction', () => {
    follower.fromClient(parse('', 'select a from b'));
    follower.fromClient(bind(''));
    expect(isVoid()).toBe(true);
  });

  it('counts before it runs', () => {
    follower.fromClient(parse('', 'select a from b'));
    expect(watch.effect()).toBe('unsure');
  });

  it('is not known if it came before', () => {
    follower.fromClient(query('select a from b'));
    follower.fromClient(bind(''));
    expect(isVoid()).toBe(false);
  });
});

it.each([8_192, 8_193])('a harmless text of %d bytes is read if it is not too long', (length) => {
  follower.fromClient(query(`select a${'x'.repeat(length - 8)}`));
  expect(watch.effect()).toBe(length === 8_192 ? 'unsure' : 'dirty');
  expect(watch.transaction.isVoid(() => undefined)).toBe(length === 8_192);
});

it.each([
  ['select a from b', true],
  ['select 1', true],
  ['set a = 1', false],
  ['select nextval($1)', false],
  ['select pg_replication_origin_session_setup($1)', false],
  ['rollback', false],
])('%s is harmless: %s', (text, isHarmless) => {
  const bytes = ENCODER.encode(`\0${text}\0`);
  expect(watch.parses(bytes, 0, bytes.length)).toBe(isHarmless);
  expect(watch.queries(bytes, 1, bytes.length - 1)).toBe(isHarmless);
  expect(watch.queries(bytes, 1, bytes.length - 2)).toBe(false);
});

it('a named statement is none of the harmless', () => {
  const bytes = ENCODER.encode('s\0select a\0');
  expect(watch.parses(bytes, 0, bytes.length)).toBe(false);
});
