import { beforeEach, describe, expect, it } from 'vitest';
import { StatementWatch } from '../../../src/wire/statement-watch.ts';

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
beforeEach(() => {
  watch = new StatementWatch();
});

describe('simple statements', () => {
  it('of a pool that validates a connection are clean', () => {
    watch.fromClient(query('SELECT 1'));
    for (const bytes of [message('T', 'x'), message('D', 'x'), tag('SELECT 1'), READY]) watch.fromServer(bytes);
    expect(watch.effect()).toBe('clean');
  });

  it('are dirty by the tag of the server, whatever the text', () => {
    watch.fromClient(query('SELECT a FROM b'));
    expect(watch.effect()).toBe('unsure');
    watch.fromServer(tag('SET'));
    expect(watch.effect()).toBe('dirty');
  });

  it('count until the state of the session is known', () => {
    watch.fromClient(query('SET a = 1'));
    watch.fromClient(query('SELECT 1'));
    watch.fromServer(READY);
    expect(watch.effect()).toBe('dirty');
    watch.forget(true);
    expect(watch.effect()).toBe('clean');
  });

  it('trust the name of a function once the search_path is known', () => {
    watch.fromClient(query('SELECT now()'));
    expect(watch.effect()).toBe('unsure');
    watch.forget(true);
    watch.fromClient(query('SELECT now()'));
    expect(watch.effect()).toBe('clean');
    watch.forget(false);
    watch.fromClient(query('SELECT now()'));
    expect(watch.effect()).toBe('unsure');
  });

  it('may come in any chunks', () => {
    for (const byte of query('LISTEN x')) watch.fromClient(Uint8Array.of(byte));
    expect(watch.effect()).toBe('dirty');
  });

  it('are dirty when their text is too long to be read', () => {
    watch.fromClient(query(`SELECT '${'x'.repeat(9_000)}'`));
    expect(watch.effect()).toBe('dirty');
  });
});

describe('the extended protocol', () => {
  it('leaves a statement with a name behind', () => {
    watch.fromClient(parse('s1', 'SELECT 1'));
    expect(watch.effect()).toBe('dirty');
  });

  it('may run an unnamed statement of before again', () => {
    watch.fromClient(parse('', 'SELECT f()'));
    watch.forget(true);
    watch.fromClient(bind(''));
    expect(watch.effect()).toBe('unsure');
  });

  it('is clean with a clean unnamed statement', () => {
    watch.fromClient(parse('', 'SELECT 1'));
    watch.fromClient(bind(''));
    watch.fromClient(message('E', '\0\0\0\0\0'));
    watch.fromClient(message('S'));
    watch.fromServer(tag('SELECT 1'));
    expect(watch.effect()).toBe('clean');
  });

  it('is unsure with a statement that has a name, also beside a clean one', () => {
    watch.fromClient(parse('', 'SELECT 1'));
    watch.fromClient(bind('s1'));
    expect(watch.effect()).toBe('unsure');
  });

  it('is dirty when a statement is closed or a function is called', () => {
    watch.fromClient(message('C', 'Ss1\0'));
    expect(watch.effect()).toBe('dirty');
    watch.forget(true);
    watch.fromClient(message('C', 'P\0'));
    expect(watch.effect()).toBe('clean');
    watch.fromClient(message('F', 'x'));
    expect(watch.effect()).toBe('dirty');
  });
});

it('is dirty for good when a direction cannot be read', () => {
  watch.fromServer(message('?'));
  watch.forget(true);
  expect(watch.effect()).toBe('dirty');
});
