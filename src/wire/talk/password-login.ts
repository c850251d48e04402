// Logs in to a server as a client that has a password: by SCRAM-SHA-256 alone, which tells nothing to a server that
// does not know it. The login counts with the server's proof. Without a password the server must ask for none.
// Messages: RFC 5802; protocol, SASL Authentication.
import { refusalIn } from '../startup/backend-greeting.ts';
import { BodyReader } from '../messages/client-messages.ts';
import { MessageReader } from '../messages/message-reader.ts';
import { MOST_TOLD_BYTES, ToldParameters } from '../messages/parameter-status.ts';
import { OK, SASL, SASL_CONTINUE, SASL_FINAL, cString, int32, joined, message } from '../messages/server-messages.ts';
import { BOUND, SCRAM, SCRAM_PLUS, UNBOUND, bindingOf, headerFor, mechanismsIn } from './channel-binding.ts';
import { METHODS } from './login-methods.ts';
import { fromBase64, isServersSignature, keysOf, proofOf, readServerFirst, toBase64 } from './scram.ts';
import type { Hashes, ScramKeys } from './scram.ts';
import { serverError, type TalkOutcome, type TalkStep } from './server-replies.ts';

/** From outside, because this room has no library. */
export interface LoginTools {
  readonly hashes: Hashes;
  /** 18 random bytes. */
  readonly nonce: () => Uint8Array;
  /** PBKDF2 with SHA-256: 32 bytes. */
  readonly salted: (password: Uint8Array, salt: Uint8Array, iterations: number) => Promise<Uint8Array>;
}

export interface PasswordLoginOptions {
  /** The settings of the StartupMessage, `user` and `database` among them. */
  readonly settings: Readonly<Record<string, string>>;
  /** 18 random bytes. */
  readonly nonce: Uint8Array;
  /** `tls-server-end-point` of the certificate that the server showed. Undefined: the login is not bound to it. */
  readonly serverHash: Uint8Array | undefined;
  readonly hasPassword: boolean;
  readonly hashes: Hashes;
}

/** `why` has no secret. */
export type PasswordLoginResult = { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly why: string };

export type PasswordLoginStep =
  | TalkStep<TalkOutcome<PasswordLoginResult>>
  /** The salted password (RFC 5802, 3) is due: `salted`. */
  | { readonly kind: 'salt'; readonly salt: Uint8Array; readonly iterations: number };

/** 150 times PostgreSQL's own: each of them is work for this process. */
const MOST_ITERATIONS = 600_000;
const PROTOCOL_3 = 0x3_0000;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('latin1');
const UNPROVEN = 'the server has not proven that it knows the password';

/** One login on one new connection. */
export class PasswordLogin {
  readonly #options: PasswordLoginOptions;
  readonly #reader = new MessageReader(MOST_TOLD_BYTES);
  readonly #parameters = new ToldParameters();
  readonly #clientFirst: string;
  #header: string = UNBOUND;
  /** The kind of the next AuthenticationRequest. */
  #awaits: typeof SASL | typeof SASL_CONTINUE | typeof SASL_FINAL | typeof OK | undefined;
  #challenge: { readonly text: string; readonly nonce: string } | undefined;
  #keys: ScramKeys | undefined;
  #authMessage = new Uint8Array(0);
  readonly #send: Uint8Array[] = [];
  #salt: Extract<PasswordLoginStep, { kind: 'salt' }> | undefined;
  #result: PasswordLoginResult | undefined;

  constructor(options: PasswordLoginOptions) {
    this.#options = options;
    this.#awaits = options.hasPassword ? SASL : OK;
    // Without a name: PostgreSQL takes it from the startup message.
    this.#clientFirst = `n=,r=${toBase64(options.nonce)}`;
  }

  /** The bytes for the server. */
  start(): Uint8Array {
    const settings = Object.entries(this.#options.settings).flatMap((pair) => pair.map(cString));
    const body = joined([int32(PROTOCOL_3), ...settings, Uint8Array.of(0)]);
    return joined([int32(body.length + 4), body]);
  }

  /** The next bytes of the server. After `done` all keys here are overwritten. */
  take(chunk: Uint8Array): PasswordLoginStep {
    this.#reader.add(chunk);
    return this.#go(chunk);
  }

  /** The salted password, which is overwritten. */
  salted(password: Uint8Array): PasswordLoginStep {
    const { hashes, serverHash } = this.#options;
    if (this.#challenge !== undefined && this.#salt !== undefined) {
      const { text, nonce } = this.#challenge;
      this.#salt = undefined;
      this.#keys = keysOf(hashes, password);
      const final = `c=${bindingOf(this.#header, serverHash)},r=${nonce}`;
      this.#authMessage = ENCODER.encode(`${this.#clientFirst},${text},${final}`);
      const proof = proofOf(hashes, this.#keys.clientKey, this.#keys, this.#authMessage);
      this.#reply(ENCODER.encode(`${final},p=${toBase64(proof)}`));
    }
    password.fill(0);
    return this.#go(new Uint8Array(0));
  }

  /** Overwrites the keys, for a login that is given up. */
  clear(): void {
    if (this.#keys === undefined) return;
    for (const key of [this.#keys.clientKey, this.#keys.storedKey, this.#keys.serverKey]) key.fill(0);
  }

  #go(chunk: Uint8Array): PasswordLoginStep {
    while (this.#result === undefined && this.#salt === undefined) {
      const next = this.#reader.next();
      if (next === undefined) break;
      if (next.body === undefined) this.#failUnread(chunk);
      else this.#read(next.type, next.body);
    }
    if (this.#result !== undefined) {
      this.clear();
      return { kind: 'done', result: this.#result, parameters: this.#parameters.values(), rest: this.#reader.rest() };
    }
    if (this.#salt !== undefined) return this.#salt;
    const bytes = joined(this.#send.splice(0));
    return bytes.length === 0 ? { kind: 'wait' } : { kind: 'send', bytes };
  }

  #read(type: string, body: Uint8Array): void {
    switch (type) {
      case 'R':
        return this.#readRequest(new BodyReader(body).int32() ?? -1, body.subarray(4));
      case 'S':
        if (!this.#parameters.learn(body)) this.#fail('the parameters of the server are invalid, or too many');
        return;
      case 'K':
      case 'N':
        return;
      case 'E': {
        const { sqlState, message: words } = serverError(body, '');
        return this.#fail(`${words} (${sqlState})`);
      }
      case 'Z':
        if (this.#awaits === undefined) this.#result = { kind: 'ready' };
        else this.#fail(UNPROVEN);
        return;
      default:
        this.#fail(`unexpected message ${JSON.stringify(type)}`);
    }
  }

  #failUnread(chunk: Uint8Array): void {
    const sqlState = refusalIn(chunk);
    const why =
      sqlState === undefined ? 'the server does not speak PostgreSQL' : 'the server could not start a process';
    this.#fail(why);
  }

  #readRequest(code: number, data: Uint8Array): void {
    const { hasPassword } = this.#options;
    if (code !== OK && code !== SASL && code !== SASL_CONTINUE && code !== SASL_FINAL) {
      const what = METHODS.get(code) ?? `method ${code}`;
      return this.#fail(`the server asks for ${what}: Pointsman logs in by ${SCRAM} alone`);
    }
    if (!hasPassword && code === SASL) return this.#fail('the server asks for a password: give a password file');
    if (code === OK && this.#awaits !== OK) return this.#fail(UNPROVEN);
    if (code !== this.#awaits) return this.#fail('the messages of the login have the wrong order');
    if (code === SASL) return this.#begin(data);
    if (code === SASL_CONTINUE) return this.#readChallenge(DECODER.decode(data));
    if (code === SASL_FINAL) return this.#believe(data);
    this.#awaits = undefined;
    return undefined;
  }

  #begin(data: Uint8Array): void {
    const offer = mechanismsIn(data);
    if (!offer.includes(SCRAM)) return this.#fail(`the server does not offer ${SCRAM}`);
    this.#header = headerFor(offer, this.#options.serverHash);
    const first = ENCODER.encode(`${this.#header}${this.#clientFirst}`);
    this.#awaits = SASL_CONTINUE;
    return this.#reply(cString(this.#header === BOUND ? SCRAM_PLUS : SCRAM), int32(first.length), first);
  }

  #readChallenge(text: string): void {
    const first = readServerFirst(text);
    const own = this.#clientFirst.slice('n=,r='.length);
    const salt = first && fromBase64(ENCODER.encode(first.salt));
    const isRight = first !== undefined && first.nonce.startsWith(own) && first.nonce !== own;
    if (!isRight || salt === undefined || first.iterations < 1 || first.iterations > MOST_ITERATIONS) {
      return this.#fail('the challenge of the server is invalid');
    }
    this.#awaits = SASL_FINAL;
    this.#challenge = { text, nonce: first.nonce };
    this.#salt = { kind: 'salt', salt, iterations: first.iterations };
    return undefined;
  }

  #believe(data: Uint8Array): void {
    const [v, equals] = data;
    const signature = v === 0x76 && equals === 0x3d ? fromBase64(data.subarray(2)) : undefined;
    const keys = this.#keys;
    if (keys === undefined || signature === undefined) return this.#fail(UNPROVEN);
    if (!isServersSignature(this.#options.hashes, keys, this.#authMessage, signature)) return this.#fail(UNPROVEN);
    this.#awaits = OK;
    return undefined;
  }

  #reply(...parts: readonly Uint8Array[]): void {
    this.#send.push(message('p', parts));
  }

  #fail(why: string): void {
    this.#result ??= { kind: 'failed', why };
  }
}
