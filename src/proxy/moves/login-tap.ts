// Keeps of the login of a session as much as it takes to repeat it without the client.
import { nothing } from '../../model/once.ts';
import { LoginTranscript, type TranscriptLogin } from '../../wire/follow/login-transcript.ts';
import type { Tap } from '../relay/conversation.ts';

/** The parts of a login that it takes to repeat it. */
export interface RepeatableLogin {
  readonly login: TranscriptLogin;
  /** The body of the server's NegotiateProtocolVersion. */
  readonly negotiated: Uint8Array | undefined;
  /** The first number of server_version: 18. */
  readonly serverMajor: number;
}

const UNKNOWN: RepeatableLogin = { login: { method: 'other' }, negotiated: undefined, serverMajor: 0 };

export class LoginTap implements Tap {
  #onDone: (told: ReadonlyMap<string, string>) => void;
  /** Until the login is over. */
  #transcript: LoginTranscript | undefined;
  #login = UNKNOWN;

  /** `keeps`: the role is one whose sessions move. `onDone` has the parameters that the client was told. */
  constructor(keeps: boolean, onDone: (told: ReadonlyMap<string, string>) => void) {
    this.#transcript = keeps ? new LoginTranscript() : undefined;
    this.#onDone = onDone;
  }

  /** The way of its login is not known yet. */
  isReading(): boolean {
    return this.#transcript !== undefined;
  }

  login(): RepeatableLogin {
    return this.#login;
  }

  fromClient(bytes: Uint8Array): void {
    this.#transcript?.fromClient(bytes);
  }

  fromServer(chunk: Uint8Array): Uint8Array {
    const transcript = this.#transcript;
    transcript?.fromBackend(chunk);
    if (transcript?.isDone() !== true) return chunk;
    this.#transcript = undefined;
    const told = transcript.parameters();
    const serverMajor = Number.parseInt(told.get('server_version') ?? '', 10);
    this.#login = { login: transcript.login(), negotiated: transcript.negotiated(), serverMajor };
    this.#onDone(told);
    this.#onDone = nothing;
    return chunk;
  }

  /** The session is over: overwrites what it has. */
  clear(): void {
    const { login } = this.#login;
    this.#login = UNKNOWN;
    this.#transcript?.clear();
    this.#transcript = undefined;
    for (const bytes of Object.values(login)) if (typeof bytes !== 'string') bytes.fill(0);
  }
}
