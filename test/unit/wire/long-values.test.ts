// Values from clients and servers may be longer than the stack takes arguments, and a server may send them for ever.
import { expect, test } from 'vitest';
import { BackendLogin } from '../../../src/wire/talk/backend-login.ts';
import { byteText } from '../../../src/wire/messages/byte-text.ts';
import { TwoLegLogin } from '../../../src/wire/talk/two-leg-login.ts';
import { LoginTranscript } from '../../../src/wire/follow/login-transcript.ts';
import { encodeParameter, readParameter, ToldParameters } from '../../../src/wire/messages/parameter-status.ts';
import { Pipeline } from '../../../src/wire/talk/pipeline.ts';
import { readVerifier } from '../../../src/wire/talk/scram.ts';
import { SessionFollower } from '../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../src/wire/follow/session-memory.ts';
import { asBase64 } from '../../../src/wire/talk/session-state.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, QUERY, readyForQuery } from '../../support/sockets/messages.ts';
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

test.each([40_000, 400_000, 2_000_000])('a parameter of %d bytes leaves the session readable', (length) => {
  const message = encodeParameter('search_path', 'A'.repeat(length));
  for (const memory of [undefined, new SessionMemory()]) {
    const follower = new SessionFollower(memory);
    follower.fromBackend(Buffer.concat([AUTHENTICATION_OK, message, readyForQuery('I')]));
    memory?.begins(new Map([['search_path', 'public']]));
    follower.fromClient(QUERY);
    follower.fromBackend(message.subarray(0, 100));
    follower.fromBackend(Buffer.concat([message.subarray(100), COMMAND_COMPLETE, readyForQuery('I')]));
    expect(follower.activity()).toBe('idle');
    expect(memory?.told().get('search_path')?.length).toBe(memory && (length < 1_000_000 ? length : 'public'.length));
  }
});

test('a long parameter in a login, and in its transcript', () => {
  const transcript = new LoginTranscript();
  transcript.fromBackend(Buffer.concat([AUTHENTICATION_OK, encodeParameter('search_path', LONG), readyForQuery('I')]));
  expect(transcript.login()).toEqual({ method: 'trust' });
  expect(transcript.parameters().get('search_path')).toBe(LONG);
  const login = aLogin();
  const step = login.take(Buffer.concat([AUTHENTICATION_OK, encodeParameter('search_path', LONG), readyForQuery('I')]));
  expect(step).toMatchObject({ kind: 'done', result: { kind: 'ready' } });
});

test('parameters with ever new names end at 1 MB in the memory of a session, too', () => {
  const memory = new SessionMemory();
  memory.begins(new Map());
  const value = 'v'.repeat(10_000);
  for (let at = 0; at < 200; at += 1) memory.tells(`name_${at}`, value);
  expect(memory.told().size).toBeLessThan(100);
});

test('many names of settings', () => {
  expect(Buffer.from(asBase64(LONG), 'base64').toString()).toBe(LONG);
});

test('many mechanisms of a login', () => {
  const names = Buffer.from('SCRAM-SHA-256-PLUS\0'.concat('X\0'.repeat(30_000), '\0'));
  const message = Buffer.concat([Buffer.from('R'), int32(names.length + 8), int32(10), names]);
  const random = { client: Buffer.alloc(18), server: Buffer.alloc(18), proof: Buffer.alloc(32) };
  const certificates = { ownHash: undefined, serverHash: Buffer.alloc(32), isPasswordSafe: true, hasVerifiers: false };
  const { toClient, end } = new TwoLegLogin({ ...certificates, random, hashes: HASHES }).fromServer(message);
  expect({ length: toClient.length, end }).toEqual({ length: message.length, end: expect.anything() });
});

test('parameters with ever new names end at 1 MB: in a login, in its transcript, in a conversation', () => {
  const login = aLogin();
  const transcript = new LoginTranscript();
  const told = new ToldParameters();
  const pipeline = new Pipeline(1_000_000, () => {}).sync();
  const value = 'v'.repeat(1_000);
  let [isOver, hasFailed] = [false, false];
  for (let at = 0; at < 5_000; at += 1) {
    const message = encodeParameter(`name_${at}`, value);
    if (!hasFailed) hasFailed = login.take(message).kind === 'done';
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

function aLogin(): BackendLogin {
  return new BackendLogin({
    startup: new Uint8Array(8),
    login: { method: 'trust' },
    negotiated: undefined,
    verifier: undefined,
    nonce: new Uint8Array(18),
    serverHash: undefined,
    hashes: HASHES,
  });
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
