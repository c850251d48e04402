// Logs in to a server for a client that has logged in before, without the client: the same startup message, and its
// login again with the server's verifier. A server that does not know the verifier gets nothing of value, and is found
// out. Only the method of the first login is used again.
import { refusalIn } from '../startup/backend-greeting.ts';
import { readKey, type CancelKey } from '../messages/cancel-key.ts';
import { BodyReader } from '../messages/client-messages.ts';
import { scramParts, type TranscriptLogin } from '../follow/login-transcript.ts';
import { MessageReader } from '../messages/message-reader.ts';
import { MOST_TOLD_BYTES, ToldParameters } from '../messages/parameter-status.ts';
import { BOUND, SCRAM, SCRAM_PLUS, UNBOUND, bindingOf, headerFor, mechanismsIn } from './channel-binding.ts';
import { METHODS } from './login-methods.ts';
import { clientKeyOf, fromBase64, isEqual, isServersSignature, proofOf } from './scram.ts';
import { readServerFirst, readVerifier, toBase64, type Hashes, type ScramVerifier } from './scram.ts';
import { int32, joined, message, MD5, OK, SASL, SASL_CONTINUE, SASL_FINAL } from '../messages/server-messages.ts';
import { serverError, type TalkOutcome, type TalkStep } from './server-replies.ts';

export interface BackendLoginOptions {
  /** The StartupMessage that the first server got. */
  readonly startup: Uint8Array;
  /** The first login, as its transcript has it. */
  readonly login: TranscriptLogin;
  /** The body of the first server's NegotiateProtocolVersion. */
  readonly negotiated: Uint8Array | undefined;
  /** As the server keeps it for the role. Not needed for `trust`. The caller overwrites it. */
  readonly verifier: Uint8Array | undefined;
  /** 18 random bytes. */
  readonly nonce: Uint8Array;
  /** `tls-server-end-point` of the certificate that the server showed. Undefined: the login is not bound to it. */
  readonly serverHash: Uint8Array | undefined;
  readonly hashes: Hashes;
}

export type BackendLoginResult =
  | { readonly kind: 'ready'; readonly cancelKey: CancelKey | undefined }
  /** `sqlState`: the server's error. `why` has no secret. */
  | { readonly kind: 'failed'; readonly sqlState: string | undefined; readonly why: string };

export type BackendLoginStep = TalkStep<TalkOutcome<BackendLoginResult>>;

const NO_BYTES = new Uint8Array(0);
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('latin1');
/** One login on one new connection. */
export class BackendLogin {
  readonly #options: BackendLoginOptions;
  readonly #reader = new MessageReader(MOST_TOLD_BYTES);
  readonly #parameters = new ToldParameters();
  /** Without a name: PostgreSQL takes it from the startup message. */
  readonly #clientFirst: string;
  readonly #verifier: ScramVerifier | undefined;
  #authMessage: Uint8Array | undefined;
  #header: string = UNBOUND;
  #hasProvenItself = false;
  #isAuthenticated = false;
  #cancelKey: CancelKey | undefined;
  #negotiated: Uint8Array = NO_BYTES;
  readonly #send: Uint8Array[] = [];
  #result: BackendLoginResult | undefined;

  constructor(options: BackendLoginOptions) {
    this.#options = options;
    this.#clientFirst = `n=,r=${toBase64(options.nonce)}`;
    this.#verifier = options.verifier && readVerifier(options.verifier);
  }

  /** The bytes for the server. */
  start(): Uint8Array {
    return this.#options.startup;
  }

  /** The next bytes of the server. After `done` all keys here are overwritten. */
  take(chunk: Uint8Array): BackendLoginStep {
    this.#reader.add(chunk);
    while (this.#result === undefined) {
      const message = this.#reader.next();
      if (message === undefined) break;
      if (message.body === undefined) this.#failUnread(chunk);
      else this.#read(message.type, message.body);
    }
    if (this.#result !== undefined) {
      this.clear();
      return { kind: 'done', result: this.#result, parameters: this.#parameters.values(), rest: this.#reader.rest() };
    }
    const bytes = joined(this.#send.splice(0));
    return bytes.length === 0 ? { kind: 'wait' } : { kind: 'send', bytes };
  }

  /** Overwrites the keys, for a login that is given up. */
  clear(): void {
    this.#verifier?.storedKey.fill(0);
    this.#verifier?.serverKey.fill(0);
    this.#authMessage?.fill(0);
  }

  #read(type: string, body: Uint8Array): void {
    const reader = new BodyReader(body);
    switch (type) {
      case 'R':
        return this.#readRequest(reader.int32() ?? -1, body.subarray(4));
      case 'S':
        if (!this.#parameters.learn(body)) this.#fail('the parameters of the server are invalid, or too many');
        return;
      case 'K':
        this.#cancelKey = readKey(body, 0, body.length);
        return;
      case 'N':
        return;
      case 'v':
        this.#negotiated = body;
        return;
      case 'E': {
        const error = serverError(body, '');
        return this.#fail(error.message, error.sqlState);
      }
      case 'Z':
        return this.#end(body[0] === 0x49);
      default:
        this.#fail(`unexpected message ${JSON.stringify(type)}`);
    }
  }

  #failUnread(chunk: Uint8Array): void {
    const sqlState = refusalIn(chunk);
    if (sqlState === undefined) this.#fail('the server does not speak PostgreSQL');
    else this.#fail('the server could not start a process', sqlState);
  }

  #end(isIdle: boolean): void {
    if (!this.#isAuthenticated || !isIdle) this.#fail('the server is ready without a login');
    else if (!isEqual(this.#negotiated, this.#options.negotiated ?? NO_BYTES)) {
      // The client would go on with the version that it agreed on with the first server.
      this.#fail('the server agrees on another version of the protocol');
    } else this.#result = { kind: 'ready', cancelKey: this.#cancelKey };
  }

  #readRequest(code: number, data: Uint8Array): void {
    const { login } = this.#options;
    const isScram = login.method === 'scram_sha_256';
    if (code === OK) {
      // A server that asks for less than before has not proven that it is the right one.
      if (login.method !== 'trust' && !this.#hasProvenItself) this.#fail('the server no longer asks for a login');
      else this.#isAuthenticated = true;
    } else if (code === SASL && isScram) this.#begin(data);
    else if (code === SASL_CONTINUE && isScram) this.#prove(DECODER.decode(data));
    else if (code === SASL_FINAL && isScram) this.#believe(data);
    else if (code === MD5 && login.method === 'md5') this.#answerMd5(data);
    else this.#fail(`the server now asks for ${METHODS.get(code) ?? `method ${code}`}`);
  }

  #begin(data: Uint8Array): void {
    const offer = mechanismsIn(data);
    if (!offer.includes(SCRAM)) return this.#fail(`the server does not offer ${SCRAM}`);
    if (this.#verifier === undefined) return this.#fail(`there is no verifier of ${SCRAM} for the role`);
    this.#header = headerFor(offer, this.#options.serverHash);
    const first = ENCODER.encode(`${this.#header}${this.#clientFirst}`);
    const mechanism = this.#header === BOUND ? SCRAM_PLUS : SCRAM;
    return this.#reply(ENCODER.encode(`${mechanism}\0`), int32(first.length), first);
  }

  #prove(serverFirst: string): void {
    const { login, hashes, serverHash } = this.#options;
    const verifier = this.#verifier;
    const first = readServerFirst(serverFirst);
    const own = this.#clientFirst.slice('n=,r='.length);
    if (verifier === undefined || login.method !== 'scram_sha_256' || this.#authMessage !== undefined) {
      return this.#fail('the messages of the server have the wrong order');
    }
    if (first === undefined || !first.nonce.startsWith(own) || first.nonce === own) {
      return this.#fail('the challenge of the server is invalid');
    }
    if (first.salt !== verifier.salt || first.iterations !== verifier.iterations) {
      return this.#fail('the verifier is not the one of the server');
    }
    const clientKey = clientKeyOf(hashes, scramParts(login.transcript), verifier);
    if (clientKey === undefined) return this.#fail('the password has changed since the login');
    const final = `c=${bindingOf(this.#header, serverHash)},r=${first.nonce}`;
    this.#authMessage = ENCODER.encode(`${this.#clientFirst},${serverFirst},${final}`);
    const proof = proofOf(hashes, clientKey, verifier, this.#authMessage);
    clientKey.fill(0);
    this.#reply(ENCODER.encode(`${final},p=${toBase64(proof)}`));
  }

  #believe(data: Uint8Array): void {
    const [v, equals] = data;
    const signature = v === 0x76 && equals === 0x3d ? fromBase64(data.subarray(2)) : undefined;
    const authMessage = this.#authMessage;
    const { hashes } = this.#options;
    const isRight =
      this.#verifier !== undefined &&
      authMessage !== undefined &&
      signature !== undefined &&
      isServersSignature(hashes, this.#verifier, authMessage, signature);
    if (isRight) this.#hasProvenItself = true;
    else this.#fail('the server does not know the password of the role');
  }

  /** `md5` and the digest of the stored digest (`md5…` in pg_authid) with the salt. */
  #answerMd5(salt: Uint8Array): void {
    const { login, verifier, hashes } = this.#options;
    if (login.method !== 'md5') return;
    if (verifier === undefined || verifier.length !== 35) return this.#fail('there is no verifier of md5 for the role');
    const stored = verifier.subarray(3);
    if (!isEqual(md5Response(hashes, stored, login.salt), login.response)) {
      return this.#fail('the password has changed since the login');
    }
    // The method has no proof of the server.
    this.#hasProvenItself = true;
    this.#reply(md5Response(hashes, stored, salt.subarray(0, 4)), Uint8Array.of(0));
  }

  #reply(...parts: readonly Uint8Array[]): void {
    this.#send.push(message('p', parts));
  }

  #fail(why: string, sqlState?: string): void {
    this.#result ??= { kind: 'failed', sqlState, why };
  }
}

function md5Response(hashes: Hashes, stored: Uint8Array, salt: Uint8Array): Uint8Array {
  const salted = joined([stored, salt]);
  const digest = hashes.md5(salted);
  salted.fill(0);
  return ENCODER.encode(`md5${[...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`);
}
