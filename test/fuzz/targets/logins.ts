// Logins whose other end is a stranger: once more at the next server, on two legs, and that of the lookup role.
import assert from 'node:assert/strict';
import { MaskedRows } from '../../../src/verifiers/masked-rows.ts';
import { ScramOnly } from '../../../src/verifiers/scram-only.ts';
import { bytesOf } from '../../../src/wire/messages/byte-text.ts';
import { BackendLogin, type BackendLoginOptions } from '../../../src/wire/talk/backend-login.ts';
import { readServerFirst, readVerifier } from '../../../src/wire/talk/scram.ts';
import { TwoLegLogin, type TwoLegStep } from '../../../src/wire/talk/two-leg-login.ts';
import { AUTHENTICATION_OK, aMessage, aNumber, errorOf, readyForQuery } from '../../support/sockets/messages.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { HASHES, scramKeys } from '../../support/values/hashes.ts';
import { Feed, piecesOf, type FuzzTarget } from '../target.ts';

const { verifier: VERIFIER } = scramKeys('pencil', 'W22ZaJ0SNY7soEsUEjb6gQ==', 4_096);
const NONCE = Buffer.alloc(18, 1);
const AUTH_MESSAGE = 'n=,r=abc,r=abcdef,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=abcdef';
const CODES = [0, 3, 5, 7, 10, 11, 12, 2, 9, -1] as const;
const TYPES = ['R', 'R', 'R', 'S', 'K', 'N', 'v', 'E', 'Z', 'D', 'T'] as const;

/** Messages of a server: requests of a login, and any others. */
function serverBytes(feed: Feed): Buffer {
  switch (feed.byte() % 6) {
    case 0:
      return feed.block();
    case 1:
      return feed.pick([
        AUTHENTICATION_OK,
        readyForQuery('I'),
        errorOf(['SFATAL', 'C28P01', 'Mno']),
        readyForQuery('T'),
      ]);
    case 2:
      return aMessage(feed.pick(TYPES), feed.block());
    default:
      return aMessage('R', Buffer.concat([aNumber(feed.pick(CODES)), feed.block()]));
  }
}

const LOGINS: readonly [BackendLoginOptions['login'], ...BackendLoginOptions['login'][]] = [
  { method: 'trust' },
  { method: 'scram_sha_256', transcript: Buffer.concat([Buffer.alloc(32, 5), Buffer.from(AUTH_MESSAGE)]) },
  { method: 'md5', salt: Buffer.from('abcd'), response: Buffer.from(`md5${'0'.repeat(32)}`) },
  { method: 'other' },
];

function checkAgain(feed: Feed): void {
  const login = feed.pick(LOGINS);
  const make = (): BackendLogin =>
    new BackendLogin({
      startup: aStartup(),
      login,
      negotiated: undefined,
      verifier: login.method === 'md5' ? Buffer.from(`md5${'0'.repeat(32)}`) : Buffer.from(VERIFIER),
      nonce: NONCE,
      serverHash: undefined,
      hashes: HASHES,
    });
  const parts: Buffer[] = [];
  while (!feed.isEmpty()) parts.push(serverBytes(feed));
  const bytes = Buffer.concat(parts);
  const outcomes = [[bytes], piecesOf(bytes)].map((chunks) => {
    const talk = make();
    for (const chunk of chunks) {
      const step = talk.take(chunk);
      if (step.kind === 'done') return step.result;
    }
    return undefined;
  });
  assert.deepEqual(outcomes[1], outcomes[0]);
  // No server knows these passwords: a login by them never succeeds.
  if (login.method === 'scram_sha_256' || login.method === 'other') assert.notEqual(outcomes[0]?.kind, 'ready');
}

function checkTwoLegs(feed: Feed): void {
  const hashes = [undefined, Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
  const given = {
    ownHash: feed.pick(hashes),
    serverHash: feed.pick(hashes),
    isPasswordSafe: feed.byte() % 2 === 0,
    hasVerifiers: feed.byte() % 2 === 0,
  };
  const make = (): TwoLegLogin => {
    const random = { client: Buffer.from(NONCE), server: Buffer.alloc(18, 2), proof: Buffer.alloc(32, 3) };
    return new TwoLegLogin({ ...given, random, hashes: HASHES });
  };
  const [whole, split] = [make(), make()];
  let asked = 0;
  for (let end: TwoLegStep['end']; end === undefined && !feed.isEmpty();) {
    const from = feed.byte() % 5;
    const isSource = from === 4;
    if (isSource && asked === 0) continue;
    const isClient = from % 2 === 1;
    const bytes = isSource
      ? Buffer.from(feed.pick([VERIFIER, Buffer.from('x')]))
      : isClient
        ? aMessage('p', feed.block())
        : serverBytes(feed);
    const one = isSource
      ? whole.verifier(Buffer.from(bytes))
      : isClient
        ? whole.fromClient(bytes)
        : whole.fromServer(bytes);
    const steps = isSource
      ? [split.verifier(Buffer.from(bytes))]
      : piecesOf(bytes).map((piece) => (isClient ? split.fromClient(piece) : split.fromServer(piece)));
    const other = steps.find((step) => step.end !== undefined) ?? steps.at(-1);
    if (other === undefined) continue;
    assert.equal(other.end?.kind, one.end?.kind);
    asked += one.asksForVerifier ? 1 : 0;
    ({ end } = one);
    assert(!(end?.kind === 'relay' && end.isAccepted));
    if (end?.kind === 'refused') assert.equal(one.toServer.length, 0);
  }
  assert(asked <= (given.hasVerifiers ? 1 : 0));
}

/** No value of a row is left in what the library reads. */
function checkMasked(feed: Feed): void {
  const parts: Buffer[] = [];
  while (!feed.isEmpty()) parts.push(serverBytes(feed));
  const bytes = Buffer.concat(parts);
  const [whole, split] = [new MaskedRows(new ScramOnly(true)), new MaskedRows(new ScramOnly(true))];
  const seen = Buffer.from(bytes);
  whole.take(seen);
  const pieces = piecesOf(bytes).map((piece) => Buffer.from(piece));
  for (const piece of pieces) split.take(piece);
  assert.equal(split.refusal(), whole.refusal());
  assert.deepEqual(split.rows(), whole.rows());
  if (whole.refusal() === undefined) assert.deepEqual(Buffer.concat(pieces), seen);
  assert.equal(seen.length, bytes.length);
}

function check(input: Uint8Array): void {
  const feed = new Feed(input);
  const kind = feed.byte() % 4;
  if (kind === 0) return checkAgain(feed);
  if (kind === 1) return checkTwoLegs(feed);
  if (kind === 2) return checkMasked(feed);
  const text = feed.rest();
  readVerifier(text);
  const first = readServerFirst(text.toString('latin1'));
  if (first !== undefined) assert(first.iterations > 0 && bytesOf(first.nonce).length > 0);
  return undefined;
}

const block = (text: string): Buffer => Buffer.from([text.length >> 8, text.length, ...Buffer.from(text, 'latin1')]);
const request = (code: number, text: string): Buffer =>
  Buffer.concat([
    Buffer.of(
      3,
      CODES.findIndex((one) => one === code),
    ),
    block(text),
  ]);
const row = (value: string): Buffer => {
  const field = Buffer.concat([Buffer.of(0, 1), aNumber(value.length), Buffer.from(value)]).toString('latin1');
  return Buffer.concat([Buffer.of(2, TYPES.indexOf('D')), block(field)]);
};

export const logins: FuzzTarget = {
  name: 'logins',
  covers: ['wire/talk/', 'wire/messages/', 'verifiers/'],
  seeds: [
    Buffer.concat([Buffer.of(0, 0, 1, 0, 1, 1)]),
    Buffer.concat([
      Buffer.of(0, 1),
      request(10, 'SCRAM-SHA-256\0\0'),
      request(11, `r=${NONCE.toString('base64')}x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`),
      request(12, `v=${'A'.repeat(43)}=`),
    ]),
    Buffer.concat([Buffer.of(0, 2), request(5, 'efgh'), Buffer.of(1, 0, 1, 1)]),
    Buffer.concat([
      Buffer.of(1, 1, 2, 0, 0, 0),
      request(10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0'),
      Buffer.of(1),
      block('SCRAM-SHA-256-PLUS\0\0\0\0\x1fp=tls-server-end-point,,n=,r=abc'),
    ]),
    Buffer.concat([Buffer.of(1, 0, 0, 1, 1, 0), request(3, '')]),
    Buffer.concat([
      Buffer.of(2),
      request(10, 'SCRAM-SHA-256\0\0'),
      request(11, 'r=a,s=b,i=4096'),
      request(12, 'v=x'),
      request(0, ''),
      row('SCRAM-SHA-256$4096:a$b:c'),
      Buffer.of(1, 1),
    ]),
    Buffer.concat([Buffer.of(3), VERIFIER]),
    Buffer.concat([Buffer.of(3), Buffer.from('r=abcdef,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096')]),
  ],
  words: [
    'SCRAM-SHA-256\0',
    'SCRAM-SHA-256-PLUS\0',
    'r=',
    ',s=',
    ',i=',
    'v=',
    'm=',
    ',,',
    'n,,',
    'y,,',
    'p=tls-server-end-point,,',
    '\0\0\0\x0c',
    '====',
    'SCRAM-SHA-256$',
  ],
  check,
};
