// A login again with a server that is played by hand: right, wrong, and hostile.
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { BackendLogin } from '../../../../src/wire/talk/backend-login.ts';
import type { BackendLoginOptions, BackendLoginStep } from '../../../../src/wire/talk/backend-login.ts';
import { LoginTranscript } from '../../../../src/wire/follow/login-transcript.ts';
import type { TranscriptLogin } from '../../../../src/wire/follow/login-transcript.ts';
import {
  AUTHENTICATION_OK,
  AUTHENTICATION_SASL,
  aMessage,
  aNumber,
  backendKeyData,
  errorOf,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { HASHES, scramKeys } from '../../../support/values/hashes.ts';

const SALT = 'W22ZaJ0SNY7soEsUEjb6gQ==';
const KEYS = scramKeys('pencil', SALT, 4096);
const END = Buffer.concat([
  AUTHENTICATION_OK,
  parameterStatus('TimeZone', 'UTC'),
  backendKeyData(7, Buffer.from('abcd')),
  readyForQuery('I'),
]);

const request = (code: number, text: string): Buffer =>
  aMessage('R', Buffer.concat([aNumber(code), Buffer.from(text, 'latin1')]));

/** The text of an answer to SASL, without its frame. */
function said(step: BackendLoginStep): string {
  if (step.kind !== 'send') throw new Error(`${step.kind} ${JSON.stringify(step)}`);
  return Buffer.from(step.bytes).subarray(5).toString('latin1');
}

/** A login of a client that knows the password, and its transcript. */
function recorded(keys = KEYS): LoginTranscript {
  const transcript = new LoginTranscript();
  const first = 'n=,r=client';
  const server = `r=clientserver,s=${SALT},i=4096`;
  const final = 'c=eSws,r=clientserver';
  const signature = createHmac('sha256', HASHES.sha256(keys.clientKey)).update(`${first},${server},${final}`).digest();
  const proof = keys.clientKey.map((byte, at) => byte ^ (signature[at] ?? 0));
  transcript.fromBackend(AUTHENTICATION_SASL);
  transcript.fromClient(
    aMessage('p', Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), aNumber(14), Buffer.from(`y,,${first}`)])),
  );
  transcript.fromBackend(request(11, server));
  transcript.fromClient(aMessage('p', Buffer.from(`${final},p=${Buffer.from(proof).toString('base64')}`)));
  transcript.fromBackend(Buffer.concat([request(12, 'v=x'), END]));
  return transcript;
}

function aLogin(changes: Partial<BackendLoginOptions> = {}): BackendLogin {
  return new BackendLogin({
    startup: aStartup(),
    login: recorded().login(),
    negotiated: undefined,
    verifier: Buffer.from(KEYS.verifier),
    nonce: Buffer.from('eighteen bytes 123'),
    serverHash: undefined,
    hashes: HASHES,
    ...changes,
  });
}

const PARAMETERS = 'the parameters of the server are invalid, or too many';
const failed = (why: string) => ({ kind: 'done', result: { kind: 'failed', why } });

/** The client's nonce, from its first message. */
function nonceOf(step: BackendLoginStep): string {
  return /r=(.+)$/.exec(said(step))?.[1] ?? '';
}

/** Up to the proof; the server's signature for it. */
function upToProof(login: BackendLogin) {
  const nonce = nonceOf(login.take(AUTHENTICATION_SASL));
  const serverFirst = `r=${nonce}more,s=${SALT},i=4096`;
  const proof = said(login.take(request(11, serverFirst)));
  const authMessage = `n=,r=${nonce},${serverFirst},${proof.slice(0, proof.lastIndexOf(',p='))}`;
  const serverKey = Buffer.from(KEYS.verifier.toString().split(':').at(-1) ?? '', 'base64');
  return { signature: createHmac('sha256', serverKey).update(authMessage).digest('base64') };
}

const UNKNOWN = 'the server does not know the password of the role';

describe('SCRAM-SHA-256', () => {
  test('it waits for whole messages, and passes over notices', () => {
    const login = aLogin();
    const offer = Buffer.concat([errorOf(['SNOTICE', 'Mx'], 'N'), AUTHENTICATION_SASL]);
    for (const byte of offer.subarray(0, -1)) expect(login.take(Uint8Array.of(byte))).toEqual({ kind: 'wait' });
    expect(said(login.take(offer.subarray(-1)))).toContain('SCRAM-SHA-256');
  });

  test.each([
    ['no verifier', undefined],
    ['one of another method', Buffer.from('md5d41d8cd98f00b204e9800998ecf8427e')],
  ])('%s for the role: nothing is sent', (_, verifier) => {
    const why = 'there is no verifier of SCRAM-SHA-256 for the role';
    expect(aLogin({ verifier }).take(AUTHENTICATION_SASL)).toMatchObject(failed(why));
    const early = aLogin({ verifier }).take(request(11, `r=x,s=${SALT},i=4096`));
    expect(early).toMatchObject(failed('the messages of the server have the wrong order'));
  });

  test('the proof says which certificate it is bound to', () => {
    const login = aLogin({ serverHash: Buffer.from('hash') });
    const nonce = nonceOf(login.take(request(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0')));
    const final = said(login.take(request(11, `r=${nonce}more,s=${SALT},i=4096`)));
    const binding = Buffer.from('p=tls-server-end-point,,hash').toString('base64');
    expect(final.startsWith(`c=${binding},r=${nonce}more,p=`)).toBe(true);
  });

  test('a server that lets the client in within a transaction is not the right one', () => {
    const login: TranscriptLogin = { method: 'trust' };
    const notice = errorOf(['SNOTICE', 'Mx'], 'N');
    const idle = aLogin({ login }).take(Buffer.concat([notice, AUTHENTICATION_OK, notice, readyForQuery('I')]));
    expect(idle).toMatchObject({ kind: 'done', result: { kind: 'ready' } });
    const step = aLogin({ login }).take(Buffer.concat([AUTHENTICATION_OK, readyForQuery('T')]));
    expect(step).toMatchObject(failed('the server is ready without a login'));
  });

  test.each([
    ['at its end', (login: BackendLogin) => void login.take(errorOf(['SFATAL', 'C57P01', 'Mno']))],
    ['when it is given up', (login: BackendLogin) => login.clear()],
  ])('all keys of a login are overwritten %s', (_, end) => {
    const seen: Uint8Array[] = [];
    const hmacSha256 = (key: Uint8Array, bytes: Uint8Array): Uint8Array => {
      seen.push(key, bytes);
      return HASHES.hmacSha256(key, bytes);
    };
    const sha256 = (bytes: Uint8Array): Uint8Array => {
      seen.push(bytes);
      return HASHES.sha256(bytes);
    };
    const login = aLogin({ hashes: { ...HASHES, hmacSha256, sha256 } });
    const { signature } = upToProof(login);
    login.take(request(12, `v=${signature}`));
    end(login);
    // The transcript of the first login is the caller's.
    const own = seen.filter((bytes) => !Buffer.from(bytes).includes('r=client'));
    expect(own.length).toBeGreaterThan(3);
    for (const bytes of own) expect(Buffer.from(bytes)).toEqual(Buffer.alloc(bytes.length));
  });

  test('a server that knows the verifier lets the session in', () => {
    const login = aLogin();
    expect(Buffer.from(login.start())).toEqual(aStartup());
    const { signature } = upToProof(login);
    const step = login.take(Buffer.concat([request(12, `v=${signature}`), END, Buffer.from('rest')]));
    expect(step).toMatchObject({
      kind: 'done',
      result: { kind: 'ready', cancelKey: { processId: 7, secret: 'abcd' } },
      parameters: new Map([['TimeZone', 'UTC']]),
    });
    expect(step.kind === 'done' && Buffer.from(step.rest).toString()).toBe('rest');
  });

  test('a server that offers it: the login is bound to the certificate of the server', () => {
    const offer = request(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0');
    const bound = aLogin({ serverHash: Buffer.from('hash of a certificate') });
    expect(said(bound.take(offer))).toMatch(/^SCRAM-SHA-256-PLUS\0.{4}p=tls-server-end-point,,n=,r=/s);
    expect(said(aLogin().take(offer))).toMatch(/^SCRAM-SHA-256\0.{4}n,,n=,r=/s);
  });

  test.each([
    ['another signature', (signature: string) => request(12, `v=${signature.replace(/^./, 'A').replace('=', 'A')}=`)],
    ['no signature', () => Buffer.alloc(0)],
    ['an error of SCRAM', () => request(12, 'e=other-error')],
    ['its signature behind other letters', (signature: string) => request(12, `e=${signature}`)],
    ['its signature behind another sign', (signature: string) => request(12, `v:${signature}`)],
  ])('a server with %s is not believed', (_, answer) => {
    const login = aLogin();
    const { signature } = upToProof(login);
    const step = login.take(Buffer.concat([answer(signature), END]));
    expect(step).toMatchObject({ result: { kind: 'failed' } });
    if (answer(signature).length > 0) expect(step).toMatchObject(failed(UNKNOWN));
  });

  test.each([
    ['another nonce', () => `r=other,s=${SALT},i=4096`, 'the challenge of the server is invalid'],
    [
      "only the client's nonce",
      (nonce: string) => `r=${nonce},s=${SALT},i=4096`,
      'the challenge of the server is invalid',
    ],
    [
      'an extension',
      (nonce: string) => `m=x,r=${nonce}more,s=${SALT},i=4096`,
      'the challenge of the server is invalid',
    ],
    ['another salt', (nonce: string) => `r=${nonce}more,s=AAAA,i=4096`, 'the verifier is not the one of the server'],
    [
      'other iterations',
      (nonce: string) => `r=${nonce}more,s=${SALT},i=1`,
      'the verifier is not the one of the server',
    ],
  ])('no proof is sent to a server with %s', (_, challenge, why) => {
    const login = aLogin();
    const nonce = nonceOf(login.take(AUTHENTICATION_SASL));
    expect(login.take(request(11, challenge(nonce)))).toMatchObject(failed(why));
  });

  test('no proof is sent when the verifier is not that of the login', () => {
    const login = aLogin({ verifier: scramKeys('pencils', SALT, 4096).verifier });
    const nonce = nonceOf(login.take(AUTHENTICATION_SASL));
    const step = login.take(request(11, `r=${nonce}more,s=${SALT},i=4096`));
    expect(step).toMatchObject(failed('the password has changed since the login'));
  });

  test('a second challenge is not answered', () => {
    const login = aLogin();
    upToProof(login);
    const own = Buffer.from('eighteen bytes 123').toString('base64');
    const step = login.take(request(11, `r=${own}more,s=${SALT},i=4096`));
    expect(step).toMatchObject(failed('the messages of the server have the wrong order'));
  });

  test.each([
    ['no login', AUTHENTICATION_OK, 'the server no longer asks for a login'],
    ['a password', request(3, ''), 'the server now asks for a password in plain text'],
    ['md5', request(5, 'salt'), 'the server now asks for md5'],
    ['a new method', request(77, ''), 'the server now asks for method 77'],
    ['channel binding alone', request(10, 'SCRAM-SHA-256-PLUS\0\0'), 'the server does not offer SCRAM-SHA-256'],
    ['nothing at all', readyForQuery('I'), 'the server is ready without a login'],
    ['no PostgreSQL', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'the server does not speak PostgreSQL'],
    ['an unknown message', aMessage('!'), 'unexpected message "!"'],
    ['a message that is too long', aMessage('S', Buffer.alloc(1_000_001)), 'the server does not speak PostgreSQL'],
    ['a parameter without a value', aMessage('S', Buffer.from('x\0')), PARAMETERS],
    ['a request without a kind', aMessage('R'), 'the server now asks for method -1'],
    ['a verdict without a challenge', request(12, 'v='), 'the server does not know the password of the role'],
    ['an error without words', errorOf(['SFATAL', 'C53300']), ''],
  ])('a server that wants %s', (_, bytes, why) => {
    expect(aLogin().take(bytes)).toMatchObject(failed(why));
  });
});

test("the server's error, with its SQLSTATE", () => {
  const error = errorOf(['SFATAL', 'VFATAL', 'C53300', 'Mtoo many clients']);
  expect(aLogin().take(error)).toMatchObject({
    result: { kind: 'failed', sqlState: '53300', why: 'too many clients' },
  });
});

test('a server that cannot start a process sends no length', () => {
  const error = Buffer.from('Ecould not fork new process for connection: Cannot allocate memory\n\0');
  expect(aLogin().take(error)).toMatchObject({
    result: { kind: 'failed', sqlState: '53000', why: 'the server could not start a process' },
  });
});

test.each([
  ['another version than before', aMessage('v', Buffer.from('x')), undefined],
  ['the newest version, as the first one did not', Buffer.alloc(0), Buffer.from('x')],
])('a server that agrees on %s', (_, bytes, negotiated) => {
  const login: TranscriptLogin = { method: 'trust' };
  const step = aLogin({ login, negotiated }).take(Buffer.concat([bytes, END]));
  expect(step).toMatchObject(failed('the server agrees on another version of the protocol'));
  const same = aLogin({ login, negotiated: Buffer.from('x') });
  expect(same.take(Buffer.concat([aMessage('v', Buffer.from('x')), END]))).toMatchObject({ result: { kind: 'ready' } });
});

describe('md5', () => {
  const stored = Buffer.from(`md5${Buffer.from(HASHES.md5(Buffer.from('secretapp'))).toString('hex')}`);
  const response = (salt: string): string =>
    `md5${Buffer.from(HASHES.md5(Buffer.concat([stored.subarray(3), Buffer.from(salt)]))).toString('hex')}`;
  const login: TranscriptLogin = { method: 'md5', salt: Buffer.from('abcd'), response: Buffer.from(response('abcd')) };

  test('the stored digest answers a new salt', () => {
    const again = aLogin({ login, verifier: stored });
    expect(said(again.take(request(5, 'wxyz')))).toBe(`${response('wxyz')}\0`);
    expect(again.take(END)).toMatchObject({ result: { kind: 'ready' } });
  });

  test.each([undefined, stored.subarray(0, 34), Buffer.from(KEYS.verifier)])(
    'no verifier of this method: nothing is sent',
    (verifier) => {
      const step = aLogin({ login, verifier }).take(request(5, 'wxyz'));
      expect(step).toMatchObject(failed('there is no verifier of md5 for the role'));
    },
  );

  test('another method than before is not answered', () => {
    const plain = aLogin({ login, verifier: stored }).take(request(3, ''));
    expect(plain).toMatchObject(failed('the server now asks for a password in plain text'));
    for (const method of ['md5', 'trust'] as const) {
      const before: TranscriptLogin = method === 'md5' ? login : { method };
      const why = expect.stringMatching(/^the server now asks for/);
      expect(aLogin({ login: before }).take(AUTHENTICATION_SASL)).toMatchObject({ result: { kind: 'failed', why } });
    }
  });

  test('the salted digest is overwritten', () => {
    const seen: Uint8Array[] = [];
    const md5 = (bytes: Uint8Array): Uint8Array => {
      seen.push(bytes);
      return HASHES.md5(bytes);
    };
    said(aLogin({ login, verifier: stored, hashes: { ...HASHES, md5 } }).take(request(5, 'wxyz')));
    expect(seen).toHaveLength(2);
    for (const bytes of seen) expect(Buffer.from(bytes)).toEqual(Buffer.alloc(bytes.length));
  });

  test('a digest that is not that of the login is not used', () => {
    const verifier = Buffer.from(stored);
    verifier[10] = 0x21;
    const step = aLogin({ login, verifier }).take(request(5, 'wxyz'));
    expect(step).toMatchObject(failed('the password has changed since the login'));
  });
});

describe('the transcript', () => {
  test('is the same however the bytes are split, and nothing before its end', () => {
    const transcript = new LoginTranscript();
    for (const byte of Buffer.concat([AUTHENTICATION_OK, END])) transcript.fromBackend(Buffer.of(byte));
    expect(transcript.login()).toEqual({ method: 'trust' });
    const early = new LoginTranscript();
    early.fromBackend(AUTHENTICATION_OK);
    expect(early.login()).toEqual({ method: 'other' });
  });

  test.each([
    ['channel binding', Buffer.from('SCRAM-SHA-256-PLUS\0\0\0\0\x05p=tls')],
    ['no message', Buffer.from('SCRAM-SHA-256\0')],
    ['a header of another kind', Buffer.from('SCRAM-SHA-256\0\0\0\0\x05x,,n=')],
  ])('of a login with %s cannot be used again', (_, first) => {
    const transcript = new LoginTranscript();
    transcript.fromBackend(AUTHENTICATION_SASL);
    transcript.fromClient(aMessage('p', first));
    transcript.fromBackend(END);
    expect(transcript.login()).toEqual({ method: 'other' });
  });

  test.each([2, 3, 7, 9, 13])('of authentication request %d cannot be used again', (code) => {
    const transcript = new LoginTranscript();
    transcript.fromBackend(request(code, ''));
    transcript.fromClient(aMessage('p', Buffer.from('secret\0')));
    transcript.fromBackend(END);
    expect(transcript.login()).toEqual({ method: 'other' });
  });
});
