// The login of a client that has TLS with Pointsman, at a server that has TLS with Pointsman. A login that binds
// (SCRAM-SHA-256-PLUS) names the certificate of its connection, and the two connections have two certificates. So
// Pointsman is the server of one exchange and the client of another. The server of the session stays the judge: its
// salt and iterations go to the client, and a proof that does not fit the verifier becomes a random one, which the
// server refuses in its own words. A login that does not bind is passed on as it is. Messages: RFC 5802, RFC 5929 (4),
// and protocol, SASL Authentication.
import type { LoginWay } from '../../model/logins.ts';
import { SASL, SASL_CONTINUE, SASL_FINAL } from '../messages/server-messages.ts';
import { BodyReader } from '../messages/client-messages.ts';
import { MessageReader } from '../messages/message-reader.ts';
import { encodeSaslContinue, encodeSaslFinal, encodeSaslMechanisms } from '../messages/server-messages.ts';
import { int32, joined, message } from '../messages/server-messages.ts';
import { BOUND, SCRAM, SCRAM_PLUS, bindingOf, headerFor, mechanismsIn } from './channel-binding.ts';
import { clientKeyOf, fromBase64, isEqual, isServersSignature, proofOf } from './scram.ts';
import { readServerFirst, readVerifier, toBase64, type Hashes, type ScramVerifier } from './scram.ts';

/** Close reasons (model/close-reason.ts). */
export type LoginFault =
  | 'login_unbound'
  | 'login_unchecked'
  | 'login_malformed'
  | 'password_unencrypted'
  | 'binding_failed'
  | 'server_unproven';

export interface TwoLegLoginOptions {
  /** `tls-server-end-point` of the certificate that the client saw. Undefined: no TLS, or it has no such hash. */
  readonly ownHash: Uint8Array | undefined;
  /** The same of the certificate that the server showed. */
  readonly serverHash: Uint8Array | undefined;
  /** A password of the client crosses no network in plain text. */
  readonly isPasswordSafe: boolean;
  /** The verifier of the client's role may be asked for. */
  readonly hasVerifiers: boolean;
  /** 18 random bytes for each leg, and 32 for a proof that must fail. */
  readonly random: { readonly client: Uint8Array; readonly server: Uint8Array; readonly proof: Uint8Array };
  readonly hashes: Hashes;
}

export interface TwoLegStep {
  readonly toClient: Uint8Array;
  readonly toServer: Uint8Array;
  /** The client's messages that Pointsman has answered in place of the server. */
  readonly taken: Uint8Array;
  /** True once at most: the verifier is needed from now on. */
  readonly asksForVerifier: boolean;
  /** Undefined: not over yet. */
  readonly end: LoginEnd | undefined;
}

export type LoginEnd =
  /** Later chunks go through as they are. */
  | { readonly kind: 'relay'; readonly way: LoginWay; readonly isAccepted: boolean }
  /** `detail`: for the client. */
  | { readonly kind: 'refused'; readonly way: LoginWay; readonly fault: LoginFault; readonly detail?: string };

const CLEARTEXT_PASSWORD = 3;
/** No message of a login is longer (PG_MAX_AUTH_TOKEN_LENGTH). Bytes. */
const LONGEST = 65_535;
const PROOF_BYTES = 32;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('latin1');

/** The mechanisms that the client may choose from. */
interface MechanismOffer {
  readonly hasBinding: boolean;
  /** The offer of the server. */
  readonly mechanisms: readonly string[];
}

/** One side of an exchange: the header, such as `y,,`, and the client's first message behind it. */
interface Opening {
  readonly header: string;
  readonly first: string;
}

interface Exchange {
  /** With the client. */
  readonly outer: Opening;
  /** With the server. */
  readonly inner: Opening;
}

interface ClientChallenge extends Exchange {
  /** Both nonces. */
  readonly outerNonce: string;
  readonly outerServerFirst: string;
  readonly innerNonce: string;
  readonly innerServerFirst: string;
}

/** The client's proof, and all that it signs. */
interface ClientFinal extends ClientChallenge {
  readonly authMessage: Uint8Array;
  readonly proof: Uint8Array;
}

/** The server has a proof, and judges. */
interface PendingVerdict {
  readonly outerAuthMessage: Uint8Array;
  /** Undefined: the proof was random. */
  readonly innerAuthMessage: Uint8Array | undefined;
}

type LegPhase =
  | { readonly waitsFor: 'request' }
  | { readonly waitsFor: 'choice'; readonly offer: MechanismOffer }
  | ({ readonly waitsFor: 'challenge' } & Exchange)
  | ({ readonly waitsFor: 'proof' } & ClientChallenge)
  | ({ readonly waitsFor: 'verifier' } & ClientFinal)
  | ({ readonly waitsFor: 'verdict' } & PendingVerdict);

/** One login, from the first byte of the server behind the startup message. */
export class TwoLegLogin {
  readonly #options: TwoLegLoginOptions;
  readonly #server = new MessageReader(LONGEST);
  readonly #client = new MessageReader(LONGEST);
  #phase: LegPhase = { waitsFor: 'request' };
  readonly #toClient: Uint8Array[] = [];
  readonly #toServer: Uint8Array[] = [];
  readonly #taken: Uint8Array[] = [];
  #asksForVerifier = false;
  #way: LoginWay = 'plain';
  /** Undefined: not told yet. Null: the role has none. */
  #verifier: ScramVerifier | null | undefined;
  #end: LoginEnd | undefined;

  constructor(options: TwoLegLoginOptions) {
    this.#options = options;
  }

  fromServer(chunk: Uint8Array): TwoLegStep {
    this.#server.add(chunk);
    return this.#step();
  }

  fromClient(chunk: Uint8Array): TwoLegStep {
    this.#client.add(chunk);
    return this.#step();
  }

  /** As the server keeps it; the caller overwrites it. `none`: the role has none. `failed`: no answer of the source. */
  verifier(found: Uint8Array | 'none' | 'failed'): TwoLegStep {
    if (found === 'failed') this.#refuse('login_unchecked');
    else this.#verifier = (found === 'none' ? undefined : readVerifier(found)) ?? null;
    return this.#step();
  }

  /** Overwrites the keys, for a login that is given up. */
  clear(): void {
    this.#verifier?.storedKey.fill(0);
    this.#verifier?.serverKey.fill(0);
    if (this.#phase.waitsFor === 'verifier') this.#phase.proof.fill(0);
  }

  #step(): TwoLegStep {
    while (this.#end === undefined && this.#goesOn());
    const end = this.#end;
    if (end?.kind === 'relay') {
      this.#toClient.push(this.#server.rest());
      this.#toServer.push(this.#client.rest());
    }
    const asksForVerifier = this.#asksForVerifier;
    this.#asksForVerifier = false;
    const [toClient, toServer] = [joined(this.#toClient.splice(0)), joined(this.#toServer.splice(0))];
    const taken = joined(this.#taken.splice(0));
    if (end !== undefined) {
      this.clear();
      this.#server.clear();
      this.#client.clear();
    }
    return { toClient, toServer, taken, asksForVerifier, end };
  }

  /** False: it waits for more. */
  #goesOn(): boolean {
    const phase = this.#phase;
    switch (phase.waitsFor) {
      case 'choice':
        return this.#fromServer(phase) || this.#fromClient((data) => this.#choose(phase.offer, data));
      case 'proof':
        return this.#fromServer(phase) || this.#fromClient((data) => this.#check(phase, data));
      case 'verifier':
        if (this.#verifier === undefined) return this.#fromServer(phase);
        this.#prove(phase, this.#verifier);
        return true;
      case 'request':
      case 'challenge':
      case 'verdict':
        return this.#fromServer(phase);
    }
  }

  #fromClient(read: (data: Uint8Array) => void): boolean {
    const next = this.#client.next();
    if (next === undefined) return false;
    if (next.body === undefined || next.type !== 'p') this.#refuse('login_malformed');
    else read(next.body);
    return true;
  }

  #fromServer(phase: LegPhase): boolean {
    const next = this.#server.next();
    if (next === undefined) return false;
    if (next.body === undefined) this.#refuse('server_unproven');
    // An error ends the session, and is the client's. A notice, or the version of the protocol, may come before.
    else if (next.type === 'E') this.#relay(next.bytes);
    else if (next.type === 'N' || next.type === 'v') this.#toClient.push(next.bytes);
    else this.#readRequest(phase, next.type, next.body, next.bytes);
    return true;
  }

  #readRequest(phase: LegPhase, type: string, body: Uint8Array, bytes: Uint8Array): void {
    const code = type === 'R' ? new BodyReader(body).int32() : undefined;
    const data = body.subarray(4);
    if (phase.waitsFor === 'request') {
      if (code === SASL) this.#offer(mechanismsIn(data), bytes);
      else if (code === CLEARTEXT_PASSWORD && !this.#options.isPasswordSafe) this.#refuse('password_unencrypted');
      else this.#relay(bytes);
    } else if (phase.waitsFor === 'challenge' && code === SASL_CONTINUE) this.#challenge(phase, DECODER.decode(data));
    else if (phase.waitsFor === 'verdict' && code === SASL_FINAL) this.#believe(phase, data);
    else this.#refuse('server_unproven');
  }

  #offer(mechanisms: readonly string[], bytes: Uint8Array): void {
    const { ownHash, serverHash, hasVerifiers } = this.#options;
    if (!mechanisms.includes(SCRAM)) return this.#relay(bytes);
    const isShared = ownHash !== undefined && serverHash !== undefined && isEqual(ownHash, serverHash);
    if (isShared) {
      this.#way = 'shared';
      return this.#relay(bytes);
    }
    const hasBinding = hasVerifiers && ownHash !== undefined;
    const others = mechanisms.filter((name) => name !== SCRAM_PLUS);
    this.#toClient.push(encodeSaslMechanisms(hasBinding ? [SCRAM_PLUS, ...others] : others));
    if (mechanisms.includes(SCRAM_PLUS) && !hasBinding) this.#way = 'unbound';
    this.#phase = { waitsFor: 'choice', offer: { hasBinding, mechanisms } };
    return undefined;
  }

  #choose(offer: MechanismOffer, body: Uint8Array): void {
    const reader = new BodyReader(body);
    const mechanism = reader.text();
    const asItIs = message('p', [body]);
    if (mechanism !== SCRAM && mechanism !== SCRAM_PLUS) return this.#relayChoice(asItIs);
    const text = DECODER.decode(reader.bytes(reader.int32() ?? -1));
    const [, header = '', flag = '', identity, first = ''] = /^(([ny]|p=[^,]*),([^,]*),)(.*)/s.exec(text) ?? [];
    const isBinding = flag.startsWith('p');
    if (flag === '' || isBinding !== (mechanism === SCRAM_PLUS)) return this.#refuse('login_malformed');
    if (flag === 'n') return this.#relayChoice(asItIs);
    if (identity !== '') return this.#refuse('login_malformed', 'an authorization identity is not supported');
    if (isBinding && (header !== BOUND || !offer.hasBinding)) return this.#refuse('login_malformed');
    if (flag === 'y' && offer.hasBinding) {
      return this.#refuse('binding_failed', 'the client can bind its login, and did not get the offer to do so');
    }
    if (flag === 'y' && !offer.mechanisms.includes(SCRAM_PLUS)) return this.#relayChoice(asItIs);
    if (!this.#options.hasVerifiers) return this.#refuse('login_unbound');
    if (!/^n=[^,]*,r=[\x21-\x2b\x2d-\x7e]+$/.test(first)) return this.#refuse('login_malformed');
    this.#taken.push(asItIs);
    return this.#begin({ header, first }, offer);
  }

  #begin(outer: Opening, { mechanisms }: MechanismOffer): void {
    const { serverHash, random } = this.#options;
    const header = headerFor(mechanisms, serverHash);
    const inner = { header, first: `n=,r=${toBase64(random.server)}` };
    const text = ENCODER.encode(inner.header + inner.first);
    const mechanism = ENCODER.encode(`${header === BOUND ? SCRAM_PLUS : SCRAM}\0`);
    this.#toServer.push(message('p', [mechanism, int32(text.length), text]));
    this.#asksForVerifier = true;
    this.#way = 'verifier';
    this.#phase = { waitsFor: 'challenge', outer, inner };
  }

  #challenge({ outer, inner }: Exchange, serverFirst: string): void {
    const first = readServerFirst(serverFirst);
    const own = nonceOf(inner.first);
    if (first === undefined || !first.nonce.startsWith(own) || first.nonce === own)
      return this.#refuse('server_unproven');
    const outerNonce = nonceOf(outer.first) + toBase64(this.#options.random.client);
    const outerServerFirst = `r=${outerNonce},s=${first.salt},i=${first.iterations}`;
    this.#toClient.push(encodeSaslContinue(outerServerFirst));
    const nonces = { outerNonce, outerServerFirst, innerNonce: first.nonce, innerServerFirst: serverFirst };
    this.#phase = { waitsFor: 'proof', outer, inner, ...nonces };
    return undefined;
  }

  #check(challenge: ClientChallenge, body: Uint8Array): void {
    const { outer, outerNonce, outerServerFirst } = challenge;
    const [, unproven = '', binding = '', nonce, text = ''] = FINAL.exec(DECODER.decode(body)) ?? [];
    const proof = fromBase64(ENCODER.encode(text));
    if (proof?.length !== PROOF_BYTES) return this.#refuse('login_malformed');
    if (binding !== bindingOf(outer.header, this.#options.ownHash)) {
      return this.#refuse('binding_failed', 'the client has TLS with another certificate than that of Pointsman');
    }
    if (nonce !== outerNonce) return this.#refuse('login_malformed');
    this.#taken.push(message('p', [body]));
    const authMessage = ENCODER.encode(`${outer.first},${outerServerFirst},${unproven}`);
    this.#phase = { ...challenge, waitsFor: 'verifier', authMessage, proof };
    return undefined;
  }

  #prove(client: ClientFinal, verifier: ScramVerifier | null): void {
    const { hashes, serverHash, random } = this.#options;
    const { inner, innerNonce, innerServerFirst, authMessage } = client;
    const final = `c=${bindingOf(inner.header, serverHash)},r=${innerNonce}`;
    const innerAuthMessage = ENCODER.encode(`${inner.first},${innerServerFirst},${final}`);
    const { salt, iterations } = readServerFirst(innerServerFirst) ?? {};
    const isServers = verifier !== null && verifier.salt === salt && verifier.iterations === iterations;
    const key = isServers ? clientKeyOf(hashes, client, verifier) : undefined;
    const proof = key && verifier ? proofOf(hashes, key, verifier, innerAuthMessage) : random.proof;
    key?.fill(0);
    client.proof.fill(0);
    this.#toServer.push(message('p', [ENCODER.encode(`${final},p=${toBase64(proof)}`)]));
    const proven = key === undefined ? undefined : innerAuthMessage;
    this.#phase = { waitsFor: 'verdict', outerAuthMessage: authMessage, innerAuthMessage: proven };
  }

  #believe({ outerAuthMessage, innerAuthMessage }: PendingVerdict, data: Uint8Array): void {
    const { hashes } = this.#options;
    const verifier = this.#verifier;
    const signature = DECODER.decode(data.subarray(0, 2)) === 'v=' ? fromBase64(data.subarray(2)) : undefined;
    if (signature === undefined || innerAuthMessage === undefined || !verifier) return this.#refuse('server_unproven');
    if (!isServersSignature(hashes, verifier, innerAuthMessage, signature)) return this.#refuse('server_unproven');
    const own = hashes.hmacSha256(verifier.serverKey, outerAuthMessage);
    return this.#relay(encodeSaslFinal(`v=${toBase64(own)}`), true);
  }

  #relay(toClient: Uint8Array, isAccepted = false): void {
    this.#toClient.push(toClient);
    this.#end = { kind: 'relay', way: this.#way, isAccepted };
  }

  #relayChoice(toServer: Uint8Array): void {
    this.#toServer.push(toServer);
    this.#end = { kind: 'relay', way: this.#way, isAccepted: false };
  }

  #refuse(fault: LoginFault, detail?: string): void {
    this.#end = { kind: 'refused', way: this.#way, fault, ...(detail === undefined ? {} : { detail }) };
  }
}

/** `c=`, nonce, extensions that nobody asked for, and the proof. */
const FINAL = /^(c=([\w+/]+=*),r=([^,]+)),p=([\w+/]+=*)$/;

function nonceOf(first: string): string {
  return first.slice(first.lastIndexOf(',r=') + 3);
}
