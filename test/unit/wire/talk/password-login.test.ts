// A login with a password at a server that is played by hand: right, wrong, and hostile.
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { PasswordLogin, type PasswordLoginStep } from '../../../../src/wire/talk/password-login.ts';
import { recognise, startupParameters } from '../../../../src/wire/startup/startup.ts';
import {
  AUTHENTICATION_OK,
  AUTHENTICATION_SASL,
  aMessage,
  aNumber,
  errorOf,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { HASHES } from '../../../support/values/hashes.ts';

const SALT = Buffer.from('a salt of 16 byt');
const SALTED = pbkdf2Sync('pencil', SALT, 4096, 32, 'sha256');
const END = Buffer.concat([AUTHENTICATION_OK, parameterStatus('server_version', '18.4'), readyForQuery('I')]);

const request = (code: number, text: string): Buffer =>
  aMessage('R', Buffer.concat([aNumber(code), Buffer.from(text, 'latin1')]));

function aLogin(changes: Partial<ConstructorParameters<typeof PasswordLogin>[0]> = {}): PasswordLogin {
  return new PasswordLogin({
    settings: { user: 'monitor', database: 'postgres' },
    nonce: Buffer.from('eighteen bytes 123'),
    serverHash: undefined,
    hasPassword: true,
    hashes: HASHES,
    ...changes,
  });
}

function said(step: PasswordLoginStep): string {
  if (step.kind !== 'send') throw new Error(JSON.stringify(step));
  return Buffer.from(step.bytes).subarray(5).toString('latin1');
}

/** Up to the proof. `verdict`: the server's last word. */
function upToProof(login: PasswordLogin, offer = AUTHENTICATION_SASL, iterations = 4096) {
  const first = said(login.take(offer));
  const nonce = /r=(.+)$/.exec(first)?.[1] ?? '';
  const serverFirst = `r=${nonce}more,s=${SALT.toString('base64')},i=${iterations}`;
  const challenged = login.take(request(11, serverFirst));
  const [, final = '', proof = ''] = /^(.*),p=(.*)$/.exec(said(login.salted(Uint8Array.from(SALTED)))) ?? [];
  const auth = `n=,r=${nonce},${serverFirst},${final}`;
  const key = (name: string): Buffer => createHmac('sha256', SALTED).update(name).digest();
  const stored = createHash('sha256').update(key('Client Key')).digest();
  const signature = createHmac('sha256', stored).update(auth).digest();
  const expected = key('Client Key').map((byte, at) => byte ^ (signature[at] ?? 0));
  const verdict = createHmac('sha256', key('Server Key')).update(auth).digest('base64');
  return { first, challenged, final, proof, expected: Buffer.from(expected).toString('base64'), verdict };
}

const failed = (why: string | RegExp) => ({
  kind: 'done',
  result: { kind: 'failed', why: typeof why === 'string' ? why : expect.stringMatching(why) },
});
const UNPROVEN = 'the server has not proven that it knows the password';

describe('a login with a password', () => {
  test('both sides prove that they know it', () => {
    const login = aLogin();
    expect(recognise(login.start())).toMatchObject({ kind: 'startup', major: 3, minor: 0 });
    expect(Buffer.from(login.start()).readInt32BE()).toBe(login.start().length);
    expect([...startupParameters(login.start())]).toEqual([
      ['user', 'monitor'],
      ['database', 'postgres'],
    ]);
    const { first, challenged, proof, expected, verdict, final } = upToProof(login);
    expect(first).toMatch(/^SCRAM-SHA-256\0/);
    expect(challenged).toEqual({ kind: 'salt', salt: Uint8Array.from(SALT), iterations: 4096 });
    expect(final).toMatch(/^c=biws,r=/);
    expect(proof).toBe(expected);
    const end = login.take(Buffer.concat([request(12, `v=${verdict}`), END]));
    expect(end).toMatchObject({ kind: 'done', result: { kind: 'ready' } });
    expect(end.kind === 'done' && end.parameters.get('server_version')).toBe('18.4');
  });

  test('it binds to the certificate where the server offers that', () => {
    const login = aLogin({ serverHash: Buffer.from('hash') });
    const offer = request(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0');
    const { first, final } = upToProof(login, offer);
    expect(first).toContain('SCRAM-SHA-256-PLUS\0');
    expect(final).toContain(`c=${Buffer.from('p=tls-server-end-point,,hash').toString('base64')},`);
  });

  test('without a password the server must ask for none', () => {
    expect(aLogin({ hasPassword: false }).take(END)).toMatchObject({ kind: 'done', result: { kind: 'ready' } });
    expect(aLogin({ hasPassword: false }).take(AUTHENTICATION_SASL)).toMatchObject(failed(/asks for a password/));
  });

  test.each([
    ['lets in without a proof', END, UNPROVEN],
    ['is ready without a login', readyForQuery('I'), UNPROVEN],
    ['wants the password itself', request(3, ''), /asks for a password in plain text: .* SCRAM-SHA-256 alone/],
    ['wants md5', request(5, 'salt'), /asks for md5/],
    ['has another mechanism', request(10, 'SCRAM-SHA-1\0\0'), 'the server does not offer SCRAM-SHA-256'],
    ['begins in the middle', request(11, 'r=x,s=AAAA,i=1'), 'the messages of the login have the wrong order'],
    ['refuses', errorOf(['SFATAL', 'VFATAL', 'C28P01', 'Mno']), 'no (28P01)'],
    ['speaks something else', Buffer.from('HTTP/1.1 400'), 'the server does not speak PostgreSQL'],
    ['sends too much', aMessage('S', Buffer.alloc(1_000_001)), 'the server does not speak PostgreSQL'],
    ['has no process for us', Buffer.from('Ecould not fork new process\n\0'), 'the server could not start a process'],
    [
      'tells a parameter without a value',
      aMessage('S', Buffer.from('x\0')),
      /^the parameters of the server are invalid/,
    ],
    ['sends what is not due', aMessage('!'), 'unexpected message "!"'],
    ['asks without a method', aMessage('R'), /asks for method -1:/],
    ['has an error without words', errorOf(['SFATAL', 'C28P01']), ' (28P01)'],
    ['proves itself first', request(12, 'v='), 'the messages of the login have the wrong order'],
  ])('a server that %s is found out', (_, bytes, why) => {
    expect(aLogin().take(bytes)).toMatchObject(failed(why));
  });

  test.each([
    ['no form', 'x'],
    ['a salt that is no base64', `r=${Buffer.from('eighteen bytes 123').toString('base64')}x,s=AAA,i=4096`],
    ['another nonce', 'r=other,s=AAAA,i=4096'],
    ['no nonce of its own', `r=${Buffer.from('eighteen bytes 123').toString('base64')},s=AAAA,i=4096`],
    ['too many iterations', `r=${Buffer.from('eighteen bytes 123').toString('base64')}x,s=AAAA,i=600001`],
    ['no iteration', `r=${Buffer.from('eighteen bytes 123').toString('base64')}x,s=AAAA,i=0`],
  ])('a challenge with %s gets no proof', (_, challenge) => {
    const login = aLogin();
    login.take(AUTHENTICATION_SASL);
    expect(login.take(request(11, challenge))).toMatchObject(failed('the challenge of the server is invalid'));
  });

  test('a server with a wrong signature, or with none, is not believed', () => {
    const wrong = aLogin();
    upToProof(wrong);
    expect(wrong.take(request(12, `v=${Buffer.alloc(32).toString('base64')}`))).toMatchObject(failed(UNPROVEN));
    const silent = aLogin();
    upToProof(silent);
    expect(silent.take(END)).toMatchObject(failed(UNPROVEN));
  });

  test.each([1, 600_000])('a challenge with %d iterations is answered', (iterations) => {
    const login = aLogin();
    expect(upToProof(login, AUTHENTICATION_SASL, iterations).challenged).toMatchObject({ iterations });
  });

  test.each([
    ['other letters', 'e='],
    ['another sign', 'v:'],
  ])('a signature behind %s is none', (_, letters) => {
    const login = aLogin();
    const { verdict } = upToProof(login);
    expect(login.take(request(12, `${letters}${verdict}`))).toMatchObject(failed(UNPROVEN));
  });

  test('an error of SCRAM is no signature', () => {
    const login = aLogin();
    upToProof(login);
    expect(login.take(request(12, 'v=-'))).toMatchObject(failed(UNPROVEN));
  });

  test('it waits for whole messages and for the salted password, and passes over notices and keys', () => {
    const login = aLogin();
    const offer = Buffer.concat([errorOf(['SNOTICE', 'Mx'], 'N'), AUTHENTICATION_SASL]);
    for (const byte of offer.subarray(0, -1)) expect(login.take(Uint8Array.of(byte))).toEqual({ kind: 'wait' });
    expect(login.take(offer.subarray(-1)).kind).toBe('send');
    const own = Buffer.from('eighteen bytes 123').toString('base64');
    const challenge = request(11, `r=${own}more,s=${SALT.toString('base64')},i=4096`);
    const due = { kind: 'salt', salt: Uint8Array.from(SALT), iterations: 4096 };
    expect(login.take(challenge)).toEqual(due);
    expect(login.take(END)).toEqual(due);
    const trusted = aLogin({ hasPassword: false });
    const key = aMessage('K', Buffer.alloc(8));
    expect(trusted.take(Buffer.concat([AUTHENTICATION_OK, key, readyForQuery('I')]))).toMatchObject({
      result: { kind: 'ready' },
    });
  });

  test('a password that is not due is overwritten, and not used', () => {
    const login = aLogin();
    login.take(AUTHENTICATION_SASL);
    const password = Uint8Array.from(SALTED);
    expect(login.salted(password)).toEqual({ kind: 'wait' });
    expect(password).toEqual(new Uint8Array(32));
    const proven = aLogin();
    upToProof(proven);
    expect(proven.salted(Uint8Array.from(SALTED))).toEqual({ kind: 'wait' });
  });

  test.each([
    ['at its end', (login: PasswordLogin) => void login.take(errorOf(['SFATAL', 'C57P01', 'Mno']))],
    ['when it is given up', (login: PasswordLogin) => login.clear()],
  ])('the password and all keys are overwritten %s', (_, end) => {
    const keys: Uint8Array[] = [];
    const hmacSha256 = (key: Uint8Array, bytes: Uint8Array): Uint8Array => {
      const digest = HASHES.hmacSha256(key, bytes);
      if (Buffer.from(bytes).toString().endsWith(' Key')) keys.push(digest);
      keys.push(key);
      return digest;
    };
    const login = aLogin({ hashes: { ...HASHES, hmacSha256 } });
    upToProof(login);
    end(login);
    expect(keys.length).toBeGreaterThan(4);
    for (const key of keys) expect(Buffer.from(key)).toEqual(Buffer.alloc(32));
  });
});
