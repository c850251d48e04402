// A transcript keeps no password, no token, and nothing of a login that cannot be repeated.
import { expect, test } from 'vitest';
import { LoginTranscript, scramParts } from '../../../../src/wire/follow/login-transcript.ts';
import {
  AUTHENTICATION_OK,
  AUTHENTICATION_SASL,
  QUERY,
  aMessage,
  aNumber,
  backendKeyData,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';

const SERVER_FIRST = 'r=clientserver,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';
const FINAL = 'c=biws,r=clientserver';
const PROOF = Buffer.alloc(32, 7);
const END = Buffer.concat([AUTHENTICATION_OK, parameterStatus('TimeZone', 'UTC'), readyForQuery('I')]);
const OTHER = { method: 'other' };
/** One byte more than any message of a login. */
const LONG = 65_536;

const request = (code: number, data: string): Buffer =>
  aMessage('R', Buffer.concat([aNumber(code), Buffer.from(data)]));
const password = (text: string): Buffer => aMessage('p', Buffer.from(text));

interface Scram {
  readonly mechanism?: string;
  readonly clientFirst?: string;
  readonly serverFirst?: string;
  readonly proof?: Buffer;
  /** The client's last message. */
  readonly final?: string;
}

function scram({ mechanism = 'SCRAM-SHA-256', clientFirst = 'n,,n=,r=client', ...rest }: Scram = {}): LoginTranscript {
  const { serverFirst = SERVER_FIRST, proof = PROOF, final = `${FINAL},p=${proof.toString('base64')}` } = rest;
  const transcript = new LoginTranscript();
  const first = Buffer.from(clientFirst);
  transcript.fromBackend(AUTHENTICATION_SASL);
  transcript.fromClient(aMessage('p', Buffer.concat([Buffer.from(`${mechanism}\0`), aNumber(first.length), first])));
  transcript.fromBackend(request(11, serverFirst));
  transcript.fromClient(password(final));
  transcript.fromBackend(Buffer.concat([request(12, 'v=x'), END]));
  return transcript;
}

test.each<Scram>([{}, { mechanism: 'SCRAM-SHA-256-PLUS', clientFirst: 'p=tls-server-end-point,,n=,r=client' }])(
  'of SCRAM: the proof, and the messages that it signs, %o',
  (changes) => {
    const login = scram(changes).login();
    if (login.method !== 'scram_sha_256') throw new Error(login.method);
    const { proof, authMessage } = scramParts(login.transcript);
    expect(Buffer.from(proof)).toEqual(PROOF);
    expect(Buffer.from(authMessage).toString()).toBe(`n=,r=client,${SERVER_FIRST},${FINAL}`);
  },
);

test.each<readonly [string, Scram]>([
  ['another mechanism', { mechanism: 'SCRAM-SHA-512' }],
  ['a proof of another length', { proof: Buffer.alloc(31, 7) }],
  ['no first message of the server', { serverFirst: '' }],
  ['a first message without a form', { clientFirst: 'r=client' }],
  ['a header that does not come first', { clientFirst: 'xn,,n=,r=client' }],
])('of SCRAM with %s: nothing', (_, changes) => {
  expect(scram(changes).login()).toEqual(OTHER);
});

test('of SCRAM with an authorization identity: what is behind it is signed', () => {
  const login = scram({ clientFirst: 'y,a=user,n=,r=client' }).login();
  const transcript = login.method === 'scram_sha_256' ? login.transcript : Buffer.alloc(0);
  expect(Buffer.from(scramParts(transcript).authMessage).toString()).toMatch(/^n=,r=client,r=clientserver,/);
});

test('what the server tells of the connection: the key of its cancel requests, and an older protocol', () => {
  const transcript = new LoginTranscript();
  expect([transcript.cancelKey(), transcript.negotiated()]).toEqual([undefined, undefined]);
  const negotiated = Buffer.concat([aNumber(0x3_0000), aNumber(0)]);
  const key = backendKeyData(7, Buffer.alloc(4, 9));
  transcript.fromBackend(Buffer.concat([aMessage('v', negotiated), AUTHENTICATION_OK, key, END]));
  expect(transcript.cancelKey()).toEqual({ processId: 7, secret: '\x09'.repeat(4) });
  expect(Buffer.from(transcript.negotiated() ?? [])).toEqual(negotiated);
});

test('of a server that asked for nothing: nothing', () => {
  const transcript = new LoginTranscript();
  transcript.fromBackend(readyForQuery('I'));
  expect([transcript.isDone(), transcript.login()]).toEqual([true, OTHER]);
});

test('of md5: the salt has four bytes', () => {
  const transcript = new LoginTranscript();
  transcript.fromBackend(request(5, 'salt and more'));
  transcript.fromClient(password(`md5${'a'.repeat(32)}\0`));
  transcript.fromBackend(END);
  expect(transcript.login()).toMatchObject({ method: 'md5', salt: Uint8Array.from(Buffer.from('salt')) });
});

test('of a method that needs no answer of the client, such as SSPI: nothing', () => {
  const transcript = new LoginTranscript();
  transcript.fromBackend(Buffer.concat([request(9, ''), END]));
  expect(transcript.login()).toEqual(OTHER);
});

test('of a password that nobody has asked for: nothing', () => {
  const transcript = new LoginTranscript();
  transcript.fromClient(password('secret\0'));
  transcript.fromBackend(END);
  expect(transcript.login()).toEqual(OTHER);
});

test('a statement that comes before the end of the login is no answer', () => {
  const transcript = new LoginTranscript();
  transcript.fromBackend(AUTHENTICATION_OK);
  transcript.fromClient(QUERY);
  transcript.fromBackend(END);
  expect(transcript.login()).toEqual({ method: 'trust' });
});

test('a message that is no part of a login ends the reading', () => {
  const fromServer = new LoginTranscript();
  fromServer.fromBackend(Buffer.concat([aMessage('N', Buffer.alloc(1_000_001)), END]));
  const fromClient = new LoginTranscript();
  fromClient.fromClient(aMessage('p', Buffer.alloc(LONG)));
  fromClient.fromBackend(END);
  const [tooLong, nonsense] = [new LoginTranscript(), new LoginTranscript()];
  tooLong.fromBackend(request(5, 'salt'));
  tooLong.fromClient(aMessage('p', Buffer.alloc(LONG)));
  nonsense.fromClient(Buffer.from('p\0\0\0\0'));
  const parameter = new LoginTranscript();
  parameter.fromBackend(Buffer.concat([AUTHENTICATION_OK, aMessage('S', Buffer.from('TimeZone\0'))]));
  for (const transcript of [fromServer, fromClient, tooLong, nonsense, parameter]) {
    expect([transcript.isDone(), transcript.login()]).toEqual([true, OTHER]);
  }
});

test('nothing is read behind the end of the login', () => {
  const transcript = new LoginTranscript();
  const later = parameterStatus('TimeZone', 'Europe/Berlin');
  transcript.fromBackend(Buffer.concat([END, later]));
  transcript.fromBackend(later);
  transcript.fromClient(password('secret\0'));
  expect(transcript.login()).toEqual({ method: 'trust' });
  expect(transcript.parameters()).toEqual(new Map([['TimeZone', 'UTC']]));
});

test('before its end a login is none that can be repeated', () => {
  const transcript = new LoginTranscript();
  expect(transcript.login()).toEqual(OTHER);
  transcript.fromBackend(AUTHENTICATION_OK);
  expect(transcript.login()).toEqual(OTHER);
});

test('a last message of SCRAM without a proof gives none, whatever is in it', () => {
  const transcript = scram({ final: `c=${PROOF.toString('base64')}` });
  expect(transcript.login()).toEqual(OTHER);
});

test('an answer to md5 without its NUL is whole', () => {
  const transcript = new LoginTranscript();
  transcript.fromBackend(request(5, 'salt'));
  transcript.fromClient(password(`md5${'a'.repeat(32)}`));
  transcript.fromBackend(END);
  const response = Uint8Array.from(Buffer.from(`md5${'a'.repeat(32)}`));
  expect(transcript.login()).toEqual({ method: 'md5', salt: Uint8Array.from(Buffer.from('salt')), response });
});

test('a login that has no secret, or has not begun, is overwritten, too', () => {
  const trusted = new LoginTranscript();
  trusted.fromBackend(END);
  for (const transcript of [new LoginTranscript(), trusted]) {
    transcript.clear();
    expect(transcript.login()).toEqual(OTHER);
  }
});

test('everything is overwritten at the end of the session', () => {
  const md5 = new LoginTranscript();
  md5.fromBackend(request(5, 'salt'));
  md5.fromClient(password(`md5${'a'.repeat(32)}\0`));
  md5.fromBackend(END);
  const kept = [scram(), md5].flatMap((transcript) => {
    const parts = Object.values<unknown>(transcript.login()).filter((part) => part instanceof Uint8Array);
    transcript.clear();
    expect(transcript.login()).toEqual(OTHER);
    return parts;
  });
  expect(kept.map(({ length }) => length)).toEqual([32 + 82, 4, 35]);
  expect(kept.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([]);
});
