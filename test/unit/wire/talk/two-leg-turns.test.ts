// A login on two legs, message by message: what goes to which side, and what is out of turn or has no form.
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TwoLegLogin, type TwoLegLoginOptions, type TwoLegStep } from '../../../../src/wire/talk/two-leg-login.ts';
import { AUTHENTICATION_OK, aMessage, aNumber, errorOf } from '../../../support/sockets/messages.ts';
import { HASHES, scramKeys } from '../../../support/values/hashes.ts';

const SALT = 'W22ZaJ0SNY7soEsUEjb6gQ==';
const KEYS = scramKeys('pencil', SALT, 4096);
const RANDOM = { client: Buffer.alloc(18, 1), server: Buffer.alloc(18, 2), proof: Buffer.alloc(32, 3) };
const [OURS, THEIRS] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const [PLUS, PLAIN] = ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256'];
const HEADER = 'p=tls-server-end-point,,';
const CHOICE = choice(PLUS, `${HEADER}n=,r=abc`);
const OUTER = `abc${RANDOM.client.toString('base64')}`;
const INNER = `${RANDOM.server.toString('base64')}server`;
const CHALLENGE = `r=${INNER},s=${SALT},i=4096`;
const NOTICE = errorOf(['SNOTICE', 'Mx'], 'N');
const base64 = (header: string, hash: Buffer): string => Buffer.concat([Buffer.from(header), hash]).toString('base64');
const UNPROVEN = `c=${base64(HEADER, OURS)},r=${OUTER}`;

function request(code: number, text: string): Buffer {
  return aMessage('R', Buffer.concat([aNumber(code), Buffer.from(text, 'latin1')]));
}

function offer(...names: readonly string[]): Buffer {
  return request(10, `${names.join('\0')}\0\0`);
}

function choice(mechanism: string, text: string): Buffer {
  return aMessage('p', Buffer.concat([Buffer.from(`${mechanism}\0`), aNumber(text.length), Buffer.from(text)]));
}

/** The client's proof for the messages of its leg. */
function final(unproven = UNPROVEN, keys = KEYS): Buffer {
  const said = `n=,r=abc,r=${OUTER},s=${SALT},i=4096,${unproven}`;
  const signature = createHmac('sha256', HASHES.sha256(keys.clientKey)).update(said).digest();
  const proof = Buffer.from(keys.clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
  return aMessage('p', Buffer.from(`${unproven},p=${proof.toString('base64')}`));
}

/** The server's signature for the messages of its leg. */
function signed(serverFirst = CHALLENGE, { verifier } = KEYS): string {
  const said = `n=,r=${RANDOM.server.toString('base64')},${serverFirst},c=${base64(HEADER, THEIRS)},r=${INNER}`;
  const serverKey = Buffer.from(verifier.toString().split(':')[2] ?? '', 'base64');
  return createHmac('sha256', serverKey).update(said).digest('base64');
}

function aLogin(changes: Partial<TwoLegLoginOptions> = {}): TwoLegLogin {
  const given = { ownHash: OURS, serverHash: THEIRS, isPasswordSafe: true, hasVerifiers: true, hashes: HASHES };
  return new TwoLegLogin({ ...given, random: RANDOM, ...changes });
}

const PHASES = ['request', 'choice', 'challenge', 'proof', 'verifier', 'verdict'] as const;

/** A login that waits for that. */
function upTo(phase: (typeof PHASES)[number], changes: Partial<TwoLegLoginOptions> = {}, verifier = KEYS.verifier) {
  const login = aLogin(changes);
  const steps = [
    () => login.fromServer(offer(PLUS, PLAIN)),
    () => login.fromClient(CHOICE),
    () => login.fromServer(request(11, CHALLENGE)),
    () => login.fromClient(final()),
    () => login.verifier(verifier),
  ];
  for (const step of steps.slice(0, PHASES.indexOf(phase))) expect(step().end).toBeUndefined();
  return login;
}

function shown({ toClient, toServer, taken, asksForVerifier, end }: TwoLegStep) {
  const [client, server, gone] = [toClient, toServer, taken].map((bytes) => Buffer.from(bytes));
  return { toClient: client, toServer: server, taken: gone, asksForVerifier, end };
}

const NOTHING = {
  toClient: Buffer.alloc(0),
  toServer: Buffer.alloc(0),
  taken: Buffer.alloc(0),
  asksForVerifier: false,
};
const refused = (fault: string, way = 'plain') => ({ kind: 'refused', way, fault });
const relayed = (way: string, isAccepted = false) => ({ kind: 'relay', way, isAccepted });

test('each message of a bound login goes to its leg', () => {
  const login = aLogin();
  const offered = login.fromServer(Buffer.concat([NOTICE, aMessage('v', Buffer.alloc(8)), offer(PLAIN, 'X', PLUS)]));
  const toClient = Buffer.concat([NOTICE, aMessage('v', Buffer.alloc(8)), offer(PLUS, PLAIN, 'X')]);
  expect(shown(offered)).toStrictEqual({ ...NOTHING, toClient, end: undefined });
  const first = `${HEADER}n=,r=${RANDOM.server.toString('base64')}`;
  expect(shown(login.fromClient(CHOICE))).toStrictEqual({
    ...NOTHING,
    toServer: choice(PLUS, first),
    taken: CHOICE,
    asksForVerifier: true,
    end: undefined,
  });
  const challenged = login.fromServer(request(11, CHALLENGE));
  const challenge = request(11, `r=${OUTER},s=${SALT},i=4096`);
  expect(shown(challenged)).toStrictEqual({ ...NOTHING, toClient: challenge, end: undefined });
  expect(shown(login.fromClient(final()))).toStrictEqual({ ...NOTHING, taken: final(), end: undefined });
  expect(login.verifier(KEYS.verifier).toServer.length).toBeGreaterThan(100);
  const end = login.fromServer(Buffer.concat([request(12, `v=${signed()}`), Buffer.from('rest')]));
  expect(end.end).toStrictEqual(relayed('verifier', true));
  expect(Buffer.from(end.toClient).toString('latin1')).toMatch(/^R.*v=.{44}rest$/s);
});

describe('what is none of our business goes through as it is:', () => {
  test.each<[string, Buffer, Partial<TwoLegLoginOptions>]>([
    ['no login', AUTHENTICATION_OK, {}],
    ['md5', request(5, 'salt'), { isPasswordSafe: false }],
    ['a password on a safe way', request(3, ''), {}],
    ['another mechanism', offer('OAUTHBEARER'), {}],
    ['no request', aMessage('K', Buffer.concat([aNumber(10), Buffer.from(`${PLAIN}\0\0`)])), {}],
    ['an error', errorOf(['SFATAL', 'C28P01', 'Mno']), {}],
  ])('%s', (_, bytes, changes) => {
    const step = aLogin(changes).fromServer(Buffer.concat([bytes, Buffer.from('rest')]));
    const toClient = Buffer.concat([bytes, Buffer.from('rest')]);
    expect(shown(step)).toStrictEqual({ ...NOTHING, toClient, end: relayed('plain') });
  });

  test.each([
    ['a login that does not bind', choice(PLAIN, 'n,,n=,r=abc')],
    ['one for somebody else', choice(PLAIN, 'n,a=x,n=,r=abc')],
    ['another mechanism', choice('OAUTHBEARER', 'n,,x')],
    ['another mechanism without a first response', choice('OAUTHBEARER', '')],
  ])('%s', (_, bytes) => {
    const toServer = Buffer.concat([bytes, Buffer.from('rest')]);
    expect(shown(upTo('choice').fromClient(toServer))).toStrictEqual({ ...NOTHING, toServer, end: relayed('plain') });
  });
});

test('a password in plain text goes only where it is safe', () => {
  const { end, toClient } = aLogin({ isPasswordSafe: false }).fromServer(request(3, ''));
  expect({ end, size: toClient.length }).toStrictEqual({ end: refused('password_unencrypted'), size: 0 });
});

const LONG = Buffer.concat([Buffer.from('p'), aNumber(65_540)]);
const BROKEN = Buffer.from('p\0\0\0\x03', 'latin1');

describe('a client is refused for', () => {
  test.each<[string, Buffer, string?]>([
    ['another message', aMessage('Q', Buffer.from('x'))],
    ['a message that is too long', LONG],
    ['a length that is none', BROKEN],
    ['no data', aMessage('p', Buffer.from(`${PLAIN}\0`))],
    ['data without a form', choice(PLAIN, 'abc')],
    ['something before its form', choice(PLAIN, 'xn,,n=,r=abc')],
    ['a header of the other mechanism', choice(PLAIN, `${HEADER}n=,r=abc`)],
    ['no header of its mechanism', choice(PLUS, 'n,,n=,r=abc')],
    ['another binding', choice(PLUS, 'p=tls-unique,,n=,r=abc')],
    ['an extension', choice(PLUS, `${HEADER}m=x,n=,r=abc`)],
    ['something behind its nonce', choice(PLUS, `${HEADER}n=,r=abc,x=y`)],
    ['a nonce with a space', choice(PLUS, `${HEADER}n=,r=a c`)],
    ['an identity', choice(PLUS, 'p=tls-server-end-point,a=x,n=,r=abc'), 'an authorization identity is not supported'],
  ])('%s', (_, bytes, detail) => {
    const { end, toServer } = upTo('choice').fromClient(bytes);
    const expected = { ...refused('login_malformed'), ...(detail !== undefined && { detail }) };
    expect({ end, size: toServer.length }).toStrictEqual({ end: expected, size: 0 });
  });

  test('a binding that it did not get the offer for', () => {
    const login = upTo('choice', { hasVerifiers: false });
    expect(login.fromClient(CHOICE).end).toStrictEqual(refused('login_malformed', 'unbound'));
  });

  test.each<[string, Buffer]>([
    ['another message', aMessage('Q', Buffer.from('x'))],
    ['a message that is too long', LONG],
    ['a length that is none', BROKEN],
    ['no form', aMessage('p', Buffer.from('x'))],
    ['a proof that is no base64', aMessage('p', Buffer.from(`${UNPROVEN},p=AAA`))],
    ['a proof of another size', aMessage('p', Buffer.from(`${UNPROVEN},p=AAAA`))],
    ['another nonce', final(`c=${base64(HEADER, OURS)},r=${OUTER}x`)],
  ])('a proof with %s', (_, bytes) => {
    const { end, taken } = upTo('proof').fromClient(bytes);
    expect({ end, size: taken.length }).toStrictEqual({ end: refused('login_malformed', 'verifier'), size: 0 });
  });

  test('the name of a role is none of these', () => {
    const login = upTo('choice');
    expect(login.fromClient(choice(PLUS, `${HEADER}n=app,r=abc`))).toMatchObject({ asksForVerifier: true });
  });
});

describe('a server is not believed that', () => {
  const broken: readonly (readonly [string, Buffer])[] = [
    ['sends a length that is none', BROKEN],
    ['sends a message that is too long', LONG],
  ];
  test.each(broken)('%s', (_, bytes) => {
    for (const phase of ['choice', 'challenge', 'proof', 'verifier', 'verdict'] as const) {
      expect(upTo(phase).fromServer(bytes).end).toMatchObject({ fault: 'server_unproven' });
    }
    expect(aLogin().fromServer(bytes).end).toMatchObject({ fault: 'server_unproven' });
  });

  test('speaks out of turn', () => {
    const [challenge, verdict] = [request(11, CHALLENGE), request(12, `v=${signed()}`)];
    const [asVerdict, asChallenge] = [request(12, CHALLENGE), request(11, `v=${signed()}`)];
    const early = { choice: [challenge, verdict], challenge: [asVerdict, verdict, AUTHENTICATION_OK] } as const;
    const late = { proof: [challenge, verdict], verifier: [challenge, verdict], verdict: [asChallenge, challenge] };
    for (const [phase, all] of Object.entries({ ...early, ...late })) {
      for (const bytes of all) {
        const { end } = upTo(PHASES.find((name) => name === phase) ?? 'request').fromServer(bytes);
        expect(end, phase).toMatchObject({ fault: 'server_unproven' });
      }
    }
  });

  test.each([
    ['has another nonce', `r=other,s=${SALT},i=4096`],
    ['has no nonce of its own', `r=${RANDOM.server.toString('base64')},s=${SALT},i=4096`],
    ['has no form', 'x'],
  ])('%s', (_, text) => {
    const { end, toClient } = upTo('challenge').fromServer(request(11, text));
    const expected = { end: refused('server_unproven', 'verifier'), size: 0 };
    expect({ end, size: toClient.length }).toStrictEqual(expected);
  });

  test.each([
    ['signs with another key', `v=${signed(CHALLENGE, scramKeys('pen', SALT, 4096))}`],
    ['has an error of SCRAM', 'e=other-error'],
    ['signs behind other letters', `e=${signed()}`],
    ['signs without base64', 'v=-'],
  ])('%s', (_, text) => {
    expect(upTo('verdict').fromServer(request(12, text)).end).toMatchObject({ fault: 'server_unproven' });
  });

  test('lets a client in that did not know the password', () => {
    const other = scramKeys('pen', SALT, 4096);
    const login = upTo('verdict', {}, other.verifier);
    const { end } = login.fromServer(request(12, `v=${signed(CHALLENGE, other)}`));
    expect(end).toMatchObject({ fault: 'server_unproven' });
  });
});

test.each([
  ['at its end', (login: TwoLegLogin) => void login.fromServer(request(12, `v=${signed()}`)), 3],
  ['when it is given up', (login: TwoLegLogin) => login.clear(), 2],
])('the keys of the verifier are overwritten %s', (_, end, count) => {
  const keys = new Set<Uint8Array>();
  const hmacSha256 = (key: Uint8Array, bytes: Uint8Array): Uint8Array => {
    keys.add(key);
    return HASHES.hmacSha256(key, bytes);
  };
  const sha256 = (bytes: Uint8Array): Uint8Array => {
    keys.add(bytes);
    return HASHES.sha256(bytes);
  };
  const login = upTo('verdict', { hashes: { ...HASHES, hmacSha256, sha256 } });
  end(login);
  expect(keys.size).toBe(count);
  for (const key of keys) expect(Buffer.from(key)).toEqual(Buffer.alloc(32));
});
