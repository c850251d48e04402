// A login through two TLS connections with two certificates. Client and server are played here as RFC 5802 has them.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MessageReader } from '../../../../src/wire/messages/message-reader.ts';
import { TwoLegLogin, type TwoLegLoginOptions, type TwoLegStep } from '../../../../src/wire/talk/two-leg-login.ts';
import { AUTHENTICATION_OK, aMessage, aNumber, errorOf, readyForQuery } from '../../../support/sockets/messages.ts';
import { HASHES, scramKeys } from '../../../support/values/hashes.ts';

const [OURS, THEIRS] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const SALT = 'W22ZaJ0SNY7soEsUEjb6gQ==';
const END = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);
const request = (code: number, text: string): Buffer =>
  aMessage('R', Buffer.concat([aNumber(code), Buffer.from(text, 'latin1')]));
const hmac = (key: Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const xor = (one: Uint8Array, other: Uint8Array): Buffer => Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
const binding = (header: string, hash?: Uint8Array): string =>
  Buffer.concat([Buffer.from(header), header.startsWith('p') ? (hash ?? Buffer.alloc(0)) : Buffer.alloc(0)]).toString(
    'base64',
  );
const PLUS = 'p=tls-server-end-point,,';

/** The server of the session. `hash`: null where it has no TLS, and does not offer to bind. */
class Server {
  readonly #keys;
  readonly #hash: Uint8Array | null;
  readonly iterations: number;
  readonly seen: string[] = [];
  #header = '';
  #first = '';
  #serverFirst = '';

  constructor(password: string, hash: Uint8Array | null = THEIRS, iterations = 4096) {
    this.#keys = scramKeys(password, SALT, iterations);
    this.#hash = hash;
    this.iterations = iterations;
  }

  verifier(): Buffer {
    return Buffer.from(this.#keys.verifier);
  }

  offer(): Buffer {
    return request(10, `${this.#hash === null ? '' : 'SCRAM-SHA-256-PLUS\0'}SCRAM-SHA-256\0\0`);
  }

  /** Its answer to one message. */
  take(message: Uint8Array): Buffer {
    const body = Buffer.from(message).subarray(5);
    if (this.#first === '') {
      const [mechanism = ''] = body.toString('latin1').split('\0');
      const text = body.subarray(mechanism.length + 5).toString('latin1');
      this.seen.push(`${mechanism} ${text.split(',')[0]}`);
      const [, header = '', first = ''] = /^((?:n|y|p=[^,]+),[^,]*,)(.*)$/.exec(text) ?? [];
      // As PostgreSQL: `y` where it has offered to bind.
      if (header === 'y,,' && this.#hash !== null) return refused('28000');
      if (header.startsWith('p') !== mechanism.endsWith('-PLUS')) return refused('08P01');
      this.#header = header;
      this.#first = first;
      this.#serverFirst = `r=${first.split('r=')[1]}server,s=${SALT},i=${this.iterations}`;
      return request(11, this.#serverFirst);
    }
    const [, unproven = '', c, proof = ''] = /^(c=([^,]+),r=[^,]+),p=(.+)$/.exec(body.toString('latin1')) ?? [];
    if (c !== binding(this.#header, this.#hash ?? undefined)) return refused('28000');
    const said = `${this.#first},${this.#serverFirst},${unproven}`;
    const stored = HASHES.sha256(this.#keys.clientKey);
    const key = xor(Buffer.from(proof, 'base64'), hmac(stored, said));
    if (!HASHES.sha256(key).every((byte, at) => byte === stored[at])) return refused('28P01');
    const serverKey = Buffer.from(this.verifier().toString().split(':')[2] ?? '', 'base64');
    return Buffer.concat([request(12, `v=${hmac(serverKey, said).toString('base64')}`), END]);
  }
}

const refused = (code: string): Buffer => errorOf([`SFATAL`, `C${code}`, 'Mno']);

/** `prefer`: binds if that is offered, else says `y`. `disable`: `n`. */
type Binding = 'prefer' | 'disable';

class Client {
  readonly #password: string;
  readonly #binding: Binding;
  readonly #hash: Uint8Array;
  readonly #reader = new MessageReader(65_535);
  #header = '';
  #first = '';
  #auth = '';
  #salted: Buffer = Buffer.alloc(0);
  isIn = false;

  constructor(password: string, how: Binding, hash: Uint8Array = OURS) {
    this.#password = password;
    this.#binding = how;
    this.#hash = hash;
  }

  /** Its answer to the messages; it checks the proof of the server. */
  take(bytes: Buffer): Buffer | undefined {
    this.#reader.add(bytes);
    let answer: Buffer | undefined;
    for (let next = this.#reader.next(); next !== undefined; next = this.#reader.next())
      if (next.kind === 'message' && next.type === 'R') answer = this.#answer(Buffer.from(next.body ?? []));
    return answer;
  }

  #answer(body: Buffer): Buffer | undefined {
    const text = body.subarray(4).toString('latin1');
    switch (body.readInt32BE(0)) {
      case 10: {
        const canBind = this.#binding === 'prefer' && text.includes('SCRAM-SHA-256-PLUS');
        this.#header = canBind ? PLUS : this.#binding === 'prefer' ? 'y,,' : 'n,,';
        this.#first = `n=,r=${randomBytes(18).toString('base64')}`;
        const first = Buffer.from(this.#header + this.#first);
        const mechanism = `SCRAM-SHA-256${canBind ? '-PLUS' : ''}\0`;
        return aMessage('p', Buffer.concat([Buffer.from(mechanism), aNumber(first.length), first]));
      }
      case 11: {
        const [, nonce = '', salt = '', iterations = ''] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(text) ?? [];
        this.#salted = pbkdf2Sync(this.#password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256');
        const key = hmac(this.#salted, 'Client Key');
        const final = `c=${binding(this.#header, this.#hash)},r=${nonce}`;
        this.#auth = `${this.#first},${text},${final}`;
        const proof = xor(key, hmac(createHash('sha256').update(key).digest(), this.#auth));
        return aMessage('p', Buffer.from(`${final},p=${proof.toString('base64')}`));
      }
      case 12:
        expect(text).toBe(`v=${hmac(hmac(this.#salted, 'Server Key'), this.#auth).toString('base64')}`);
        return undefined;
      case 0:
        this.isIn = true;
    }
    return undefined;
  }
}

interface Case {
  readonly client: Client;
  readonly server: Server;
  readonly options?: Partial<TwoLegLoginOptions>;
  /** Default: the one of the server. */
  readonly verifier?: Uint8Array | 'none' | 'failed';
  /** The verifier comes when client and server wait for it. */
  readonly isSlow?: boolean;
  readonly cuts?: (bytes: Buffer) => readonly Buffer[];
}

/** The end of it, and all bytes that the client got. */
function play({ client, server, options = {}, verifier = server.verifier(), isSlow = false, cuts }: Case) {
  const random = { client: randomBytes(18), server: randomBytes(18), proof: randomBytes(32) };
  const given = { ownHash: OURS, serverHash: THEIRS, isPasswordSafe: true, hasVerifiers: true };
  const login = new TwoLegLogin({ ...given, random, hashes: HASHES, ...options });
  const got: Buffer[] = [];
  let end: TwoLegStep['end'];
  let asked = 0;
  const take = (step: TwoLegStep): void => {
    end ??= step.end;
    const { toClient, toServer, asksForVerifier } = step;
    if (asksForVerifier) asked += 1;
    if (asksForVerifier && !isSlow) take(login.verifier(verifier));
    if (toClient.length > 0) {
      got.push(Buffer.from(toClient));
      const answer = client.take(Buffer.from(toClient));
      if (answer !== undefined) send(answer, (bytes) => login.fromClient(bytes), toServerRaw);
    }
    if (toServer.length > 0) toServerRaw(Buffer.from(toServer));
  };
  const send = (bytes: Buffer, to: (bytes: Buffer) => TwoLegStep, raw: (bytes: Buffer) => void): void => {
    for (const piece of cuts?.(bytes) ?? [bytes]) {
      if (end?.kind === 'relay') raw(piece);
      else if (end === undefined) take(to(piece));
    }
  };
  const toClientRaw = (bytes: Buffer): void => {
    got.push(bytes);
    const answer = client.take(bytes);
    if (answer !== undefined) toServerRaw(answer);
  };
  const toServerRaw = (bytes: Buffer): void =>
    send(server.take(bytes), (piece) => login.fromServer(piece), toClientRaw);
  send(server.offer(), (piece) => login.fromServer(piece), toClientRaw);
  if (isSlow && end === undefined) take(login.verifier(verifier));
  return { end, asked, isIn: client.isIn, got: Buffer.concat(got).toString('latin1'), seen: server.seen };
}

const WAYS: readonly (readonly [
  string,
  Binding,
  Partial<TwoLegLoginOptions>,
  Uint8Array | null,
  { readonly way: string; readonly asked?: number },
])[] = [
  ['a client that binds, with a verifier', 'prefer', {}, THEIRS, { way: 'verifier', asked: 1 }],
  ['a client that does not, with verifiers', 'disable', {}, THEIRS, { way: 'plain', asked: 0 }],
  ['one certificate', 'prefer', { ownHash: THEIRS, hasVerifiers: false }, THEIRS, { way: 'shared', asked: 0 }],
  ['no verifiers, a client that does not bind', 'disable', { hasVerifiers: false }, THEIRS, { way: 'unbound' }],
  ['our certificate has no hash', 'prefer', { ownHash: undefined }, THEIRS, { way: 'verifier', asked: 1 }],
  ['the certificate of the server has no hash', 'prefer', { serverHash: undefined }, THEIRS, { way: 'verifier' }],
  ['a server in plain text', 'prefer', { serverHash: undefined }, null, { way: 'verifier', asked: 1 }],
  [
    'a server in plain text, no verifiers',
    'prefer',
    { serverHash: undefined, hasVerifiers: false },
    null,
    { way: 'plain', asked: 0 },
  ],
];

describe.each(WAYS)('%s', (_, how, options, serverHash, expected) => {
  const { way, asked = 0 } = expected;
  const hash = options.ownHash ?? OURS;

  test('the right password is in', () => {
    const played = play({ client: new Client('pencil', how, hash), server: new Server('pencil', serverHash), options });
    expect(played).toMatchObject({ isIn: true, end: { kind: 'relay', way } });
    expect(played.asked).toBe(way === 'verifier' ? 1 : asked);
  });

  test('G25: the wrong password is refused by the server itself', () => {
    const played = play({ client: new Client('pen', how, hash), server: new Server('pencil', serverHash), options });
    expect(played).toMatchObject({ isIn: false, end: { kind: 'relay', way } });
    expect(played.got).toContain('C28P01');
  });
});

test('a slow verifier, other iterations, and every cut of the bytes', () => {
  for (const isSlow of [true, false]) {
    for (const size of [1, 2, 3, 7, 1000]) {
      const cuts = (bytes: Buffer): Buffer[] =>
        Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
      const server = new Server('pencil', THEIRS, 1);
      expect(play({ client: new Client('pencil', 'prefer'), server, isSlow, cuts })).toMatchObject({ isIn: true });
      expect(server.seen).toEqual(['SCRAM-SHA-256-PLUS p=tls-server-end-point']);
    }
  }
});

test.each<[string, Uint8Array | 'none']>([
  ['the role has no verifier', 'none'],
  ['it is no verifier', Buffer.from('md5d41d8cd98f00b204e9800998ecf8427e')],
  ['it is of another password', new Server('old').verifier()],
  ['it has another salt', scramKeys('pencil', 'AAAAaJ0SNY7soEsUEjb6gQ==', 4096).verifier],
  ['it has other iterations', new Server('pencil', THEIRS, 5000).verifier()],
])('%s: the server refuses the login in its own words', (_, verifier) => {
  const played = play({ client: new Client('pencil', 'prefer'), server: new Server('pencil'), verifier });
  expect(played).toMatchObject({ isIn: false, end: { kind: 'relay', way: 'verifier' } });
  expect(played.got).toContain('C28P01');
});

test('a server that knows the verifier of nobody is found out', () => {
  class Liar extends Server {
    override take(message: Uint8Array): Buffer {
      const answer = super.take(message);
      return answer[0] === 0x45
        ? Buffer.concat([request(12, `v=${Buffer.alloc(32).toString('base64')}`), END])
        : answer;
    }
  }
  for (const verifier of [new Server('other').verifier(), 'none'] as const) {
    const played = play({ client: new Client('pencil', 'prefer'), server: new Liar('secret'), verifier });
    expect(played).toMatchObject({ isIn: false, end: { kind: 'refused', fault: 'server_unproven' } });
  }
});

test.each([
  ['the verifier cannot be asked for', { verifier: 'failed' as const }, 'login_unchecked'],
  ['no verifiers, and a client that would bind', { options: { hasVerifiers: false } }, 'login_unbound'],
])('refused: %s', (_, changes, fault) => {
  const played = play({ client: new Client('pencil', 'prefer'), server: new Server('pencil'), ...changes });
  expect(played).toMatchObject({ isIn: false, end: { kind: 'refused', fault } });
});

test('a stranger in front, with a certificate of its own, is found out', () => {
  const played = play({ client: new Client('pencil', 'prefer', Buffer.alloc(32, 9)), server: new Server('pencil') });
  expect(played).toMatchObject({
    end: { kind: 'refused', fault: 'binding_failed', detail: expect.stringContaining('another certificate') },
  });
});

test('a stranger in front that takes the binding out of the offer is found out', () => {
  class Misled extends Client {
    override take(bytes: Buffer): Buffer | undefined {
      return super.take(
        Buffer.from(bytes.toString('latin1').replace('SCRAM-SHA-256-PLUS\0', 'SCRAM-SHA-512-NONE\0'), 'latin1'),
      );
    }
  }
  const played = play({ client: new Misled('pencil', 'prefer'), server: new Server('pencil') });
  expect(played).toMatchObject({
    end: { kind: 'refused', fault: 'binding_failed', detail: expect.stringContaining('did not get the offer') },
  });
});

test('a stranger behind, with a certificate of its own, gets no proof that the server takes', () => {
  const played = play({
    client: new Client('pencil', 'prefer'),
    server: new Server('pencil'),
    options: { serverHash: Buffer.alloc(32, 9) },
  });
  expect(played).toMatchObject({ isIn: false });
  expect(played.got).toContain('C28000');
});
