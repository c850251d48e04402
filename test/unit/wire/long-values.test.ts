// Values from clients and servers may be longer than the stack takes arguments, and a server may send them for ever.
import { expect, test } from 'vitest';
import { BackendLogin } from '../../../src/wire/backend-login.ts';
import { byteText } from '../../../src/wire/byte-text.ts';
import { withoutChannelBinding } from '../../../src/wire/channel-binding.ts';
import { LoginTranscript } from '../../../src/wire/login-transcript.ts';
import { encodeParameter, readParameter, ToldParameters } from '../../../src/wire/parameter-status.ts';
import { Pipeline } from '../../../src/wire/pipeline.ts';
import { readVerifier } from '../../../src/wire/scram.ts';
import { asBase64 } from '../../../src/wire/session-state.ts';
import { HASHES } from '../../support/values/hashes.ts';

const LONG = 'A'.repeat(400_000);
const KEYS = `${'S'.repeat(43)}=:${'K'.repeat(43)}=`;

test('a verifier whose salt is longer than any that a server makes is none', () => {
  expect(readVerifier(Buffer.from(`SCRAM-SHA-256$4096:${'A'.repeat(24)}$${KEYS}`))?.salt).toHaveLength(24);
  expect(readVerifier(Buffer.from(`SCRAM-SHA-256$4096:${LONG}$${KEYS}`))).toBeUndefined();
});

test('a long parameter is read and written, byte by byte', () => {
  const message = encodeParameter('search_path', LONG);
  expect(readParameter(message, 5, message.length - 5)).toEqual(['search_path', LONG]);
  const all = Uint8Array.from({ length: 3_000 }, (_, at) => at);
  expect(Buffer.from(byteText(all), 'latin1')).toEqual(Buffer.from(all));
});

test('a long parameter in a conversation of ours', () => {
  const told: number[] = [];
  const pipeline = new Pipeline(1_000_000, (_name, value) => told.push(value.length)).sync();
  expect(pipeline.take(encodeParameter('search_path', LONG))).toBeUndefined();
  expect(told).toEqual([LONG.length]);
});

test('many names of settings', () => {
  expect(Buffer.from(asBase64(LONG), 'base64').toString()).toBe(LONG);
});

test('many mechanisms of a login', () => {
  const names = Buffer.from('SCRAM-SHA-256-PLUS\0'.concat('X\0'.repeat(30_000), '\0'));
  const message = Buffer.concat([Buffer.from('R'), int32(names.length + 8), int32(10), names]);
  expect(withoutChannelBinding(message)).toHaveLength(message.length - 'SCRAM-SHA-256-PLUS\0'.length);
});

test('parameters with ever new names end at 1 MB: in a login, in its transcript, in a conversation', () => {
  const startup = new Uint8Array(8);
  const login = new BackendLogin({
    startup,
    login: { method: 'trust' },
    negotiated: undefined,
    verifier: undefined,
    nonce: new Uint8Array(18),
    hashes: HASHES,
  });
  const transcript = new LoginTranscript();
  const told = new ToldParameters();
  const pipeline = new Pipeline(1_000_000, () => {}).sync();
  const value = 'v'.repeat(1_000);
  let isOver = false;
  for (let at = 0; at < 5_000; at += 1) {
    const message = encodeParameter(`name_${at}`, value);
    login.take(message);
    transcript.fromBackend(message);
    told.set(`name_${at}`, value);
  }
  for (let at = 0; at < 5_000 && !isOver; at += 1) {
    isOver = pipeline.take(encodeParameter(`name_${at}`, value))?.kind === 'over';
  }
  expect(login.take(new Uint8Array(0))).toMatchObject({ kind: 'done', result: { kind: 'failed' } });
  expect([transcript.isDone(), transcript.login()]).toEqual([true, { method: 'other' }]);
  expect(told.values().size).toBeLessThan(1_000);
  expect(isOver).toBe(true);
});

test('a parameter that changes again and again takes no more room', () => {
  const told = new ToldParameters();
  for (let at = 0; at < 5_000; at += 1) expect(told.set('search_path', `${at}`.padEnd(1_000))).toBe(true);
});

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
