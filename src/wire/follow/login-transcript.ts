// Keeps of a login, from the startup message to the first ReadyForQuery, as much as it takes to log in again for the
// same client, together with the server's verifier. It holds no password and no key. Messages: protocol, SASL
// Authentication.
import { MD5, OK, SASL, SASL_CONTINUE, SASL_FINAL } from '../messages/server-messages.ts';
import { bytesOf } from '../messages/byte-text.ts';
import { readKey, type CancelKey } from '../messages/cancel-key.ts';
import { BodyReader } from '../messages/client-messages.ts';
import { MessageReader } from '../messages/message-reader.ts';
import { MOST_TOLD_BYTES, ToldParameters } from '../messages/parameter-status.ts';
import { fromBase64 } from '../talk/scram.ts';

/** The data with which a login can be repeated. */
export type TranscriptLogin =
  | { readonly method: 'trust' }
  /** The ClientProof, and behind it the `AuthMessage` of RFC 5802: one buffer is cheaper to keep than two. */
  | { readonly method: 'scram_sha_256'; readonly transcript: Uint8Array }
  /** `response`: `md5` and 32 hexadecimal digits. */
  | { readonly method: 'md5'; readonly salt: Uint8Array; readonly response: Uint8Array }
  /** It cannot be repeated without the client. */
  | { readonly method: 'other' };

/** No message of a client's login is longer (PG_MAX_AUTH_TOKEN_LENGTH). Bytes. */
const LONGEST = 65_535;
/** Bound to a certificate or not: the proof is of the same key. */
const MECHANISM = /^SCRAM-SHA-256(?:-PLUS)?$/;
const PROOF_BYTES = 32;
const TRUST: TranscriptLogin = { method: 'trust' };
const OTHER: TranscriptLogin = { method: 'other' };
/** A character for each byte, so that nothing is lost. */
const DECODER = new TextDecoder('latin1');

/** The two parts of the transcript of SCRAM, in its own memory. */
export function scramParts(transcript: Uint8Array): { readonly authMessage: Uint8Array; readonly proof: Uint8Array } {
  return { proof: transcript.subarray(0, PROOF_BYTES), authMessage: transcript.subarray(PROOF_BYTES) };
}

export class LoginTranscript {
  readonly #backend = new MessageReader(MOST_TOLD_BYTES);
  readonly #client = new MessageReader(LONGEST);
  readonly #parameters = new ToldParameters();
  #login: TranscriptLogin | undefined;
  #request: number | undefined;
  #isDone = false;
  #salt: Uint8Array | undefined;
  #clientFirst = '';
  #serverFirst = '';
  #cancelKey: CancelKey | undefined;
  #negotiated: Uint8Array | undefined;

  /** The next bytes of the server, after its reply to a TLS request. */
  fromBackend(chunk: Uint8Array): void {
    if (this.#isDone) return;
    this.#backend.add(chunk);
    for (let message = this.#backend.next(); message !== undefined; message = this.#backend.next()) {
      if (message.body === undefined) return this.#giveUp();
      this.#readServer(message.type, message.body);
    }
  }

  /** The next bytes of the client, after its startup message. */
  fromClient(chunk: Uint8Array): void {
    if (this.#isDone) return;
    this.#client.add(chunk);
    for (let message = this.#client.next(); message !== undefined; message = this.#client.next()) {
      if (message.body === undefined) return this.#giveUp();
      if (message.type === 'p') this.#readClient(message.body);
    }
  }

  /** The first ReadyForQuery was read: more bytes change nothing. */
  isDone(): boolean {
    return this.#isDone;
  }

  /** Before the end of the login: `other`. */
  login(): TranscriptLogin {
    return this.#isDone && this.#login !== undefined ? this.#login : OTHER;
  }

  /** Parameters as the client was told them. */
  parameters(): ReadonlyMap<string, string> {
    return this.#parameters.values();
  }

  cancelKey(): CancelKey | undefined {
    return this.#cancelKey;
  }

  /** The body of NegotiateProtocolVersion, if the server sent one. */
  negotiated(): Uint8Array | undefined {
    return this.#negotiated;
  }

  /** Overwrites what it has. */
  clear(): void {
    const login = this.#login;
    if (login?.method === 'scram_sha_256') {
      login.transcript.fill(0);
    } else if (login?.method === 'md5') {
      login.salt.fill(0);
      login.response.fill(0);
    }
    this.#giveUp();
  }

  #giveUp(): void {
    this.#login = OTHER;
    this.#end();
  }

  #end(): void {
    this.#isDone = true;
    this.#clientFirst = '';
    this.#serverFirst = '';
    this.#client.clear();
    this.#backend.clear();
  }

  #readServer(type: string, body: Uint8Array): void {
    const reader = new BodyReader(body);
    switch (type) {
      case 'R':
        return this.#readRequest(reader.int32(), body.subarray(4));
      case 'S':
        if (!this.#parameters.learn(body)) this.#giveUp();
        break;
      case 'K':
        this.#cancelKey = readKey(body, 0, body.length);
        break;
      case 'v':
        this.#negotiated = body.slice();
        break;
      case 'Z':
        this.#end();
    }
  }

  #readRequest(code: number | undefined, data: Uint8Array): void {
    this.#request = code;
    switch (code) {
      case OK:
        this.#login ??= TRUST;
        break;
      case MD5:
        this.#salt = data.slice(0, 4);
        break;
      case SASL_CONTINUE:
        this.#serverFirst = DECODER.decode(data);
        break;
      case SASL:
      case SASL_FINAL:
        break;
      case undefined:
      default:
        this.#login = OTHER;
    }
  }

  #readClient(body: Uint8Array): void {
    switch (this.#request) {
      case MD5:
        this.#login = this.#salt === undefined ? OTHER : { method: 'md5', salt: this.#salt, response: cText(body) };
        break;
      case SASL:
        this.#clientFirst = clientFirstBare(body) ?? '';
        if (this.#clientFirst === '') this.#login = OTHER;
        break;
      case SASL_CONTINUE:
        this.#login ??= this.#scram(body);
        break;
      case undefined:
      default:
        // A password, or a token: it is not kept.
        this.#login = OTHER;
    }
  }

  /** The client's last message: `c=…,r=…,p=PROOF`. */
  #scram(body: Uint8Array): TranscriptLogin {
    const text = DECODER.decode(body);
    const at = text.lastIndexOf(',p=');
    const proof = at === -1 ? undefined : fromBase64(body.subarray(at + 3));
    if (proof?.length !== PROOF_BYTES || this.#serverFirst === '') return OTHER;
    const authMessage = `${this.#clientFirst},${this.#serverFirst},${text.slice(0, at)}`;
    const transcript = new Uint8Array(PROOF_BYTES + authMessage.length);
    transcript.set(proof);
    transcript.set(bytesOf(authMessage), PROOF_BYTES);
    proof.fill(0);
    return { method: 'scram_sha_256', transcript };
  }
}

/** SASLInitialResponse: the mechanism, and the client's first message without its header (RFC 5802, 7). */
function clientFirstBare(body: Uint8Array): string | undefined {
  const reader = new BodyReader(body);
  if (!MECHANISM.test(reader.text() ?? '')) return undefined;
  const data = reader.bytes(reader.int32() ?? -1);
  return data && /^(?:[ny]|p=[^,]*),[^,]*,(.+)/s.exec(DECODER.decode(data))?.[1];
}

/** Without its NUL. */
function cText(body: Uint8Array): Uint8Array {
  const end = body.indexOf(0);
  return body.slice(0, end === -1 ? body.length : end);
}
