// Logs a session in at its next server and restores its state there, without its client. Reports once, and nothing
// after the abort. Whatever is not expected fails the login.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import type { CarriedState, MoveFailure } from '../../model/moves.ts';
import { readKey } from '../../wire/cancel-key.ts';
import type { CancelKey } from '../../wire/cancel-key.ts';
import { BodyReader } from '../../wire/client-messages.ts';
import { MessageReader } from '../../wire/message-reader.ts';
import { serverError } from '../../wire/pipeline.ts';
import { SessionRestore } from '../../wire/session-restore.ts';
import { ignoreErrors } from '../socket.ts';

export interface LoggedIn {
  readonly key: CancelKey | undefined;
  /** As the server has told them last, by name. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Bytes of the server behind its answers: for the client. */
  readonly rest: Uint8Array;
}

export interface LoginFailure {
  readonly reason: MoveFailure;
  /** Without an address, and without a secret. */
  readonly detail: string;
  /** Another attempt may succeed: the server is starting, stopping, or full. */
  readonly isForNow: boolean;
}

export interface LogInAgainInputs {
  /** Connected, and its own from now on. */
  readonly backend: Socket;
  /** The startup packet of the session. */
  readonly packet: Uint8Array;
  readonly state: CarriedState;
  readonly clock: Clock;
  /** The backend is the caller's again, paused. */
  readonly onDone: (login: LoggedIn) => void;
  /** The backend is closed. */
  readonly onFailed: (failure: LoginFailure) => void;
}

/** For the login and for the restore together. Milliseconds. */
const LIMIT_MS = 10_000;
/** No message of a login is longer. Bytes. */
const LONGEST = 64_000;
/** The server starts, stops or has no free connection: cannot_connect_now, admin_shutdown, too_many_connections. */
const FOR_NOW: ReadonlySet<string> = new Set(['57P03', '57P01', '57P02', '53300']);

/** Of ReadyForQuery. */
const IDLE = 0x49;

/** Returns the abort, which closes the backend; it is idempotent, and does nothing once the outcome is reported. */
export function logInAgain(inputs: LogInAgainInputs): () => void {
  const login = new LogInAgain(inputs);
  login.start();
  return () => login.abort();
}

class LogInAgain {
  readonly #inputs: LogInAgainInputs;
  readonly #reader = new MessageReader(LONGEST);
  readonly #parameters = new Map<string, string>();
  #key: CancelKey | undefined;
  #restore: SessionRestore | undefined;
  #isDone = false;
  readonly #cancelLimit: () => void;

  constructor(inputs: LogInAgainInputs) {
    this.#inputs = inputs;
    const late = (): void => this.#fail('move_login', `no answer within ${LIMIT_MS / 1000} s`, true);
    this.#cancelLimit = inputs.clock.schedule(LIMIT_MS, late);
  }

  start(): void {
    const { backend, packet } = this.#inputs;
    backend.on('data', this.#received).on('end', this.#closed).on('close', this.#closed);
    ignoreErrors(backend);
    backend.resume();
    backend.write(packet);
  }

  abort(): void {
    if (!this.#isDone) this.#leave().destroy();
  }

  readonly #received = (chunk: Uint8Array): void => {
    if (this.#restore !== undefined) return this.#restored(this.#restore, chunk);
    this.#reader.add(chunk);
    return this.#readOn();
  };

  readonly #closed = (): void => this.#fail('move_login', 'connection closed by the server', true);

  #readOn(): void {
    while (!this.#isDone && this.#restore === undefined) {
      const message = this.#reader.next();
      if (message === undefined) return;
      if (message.kind === 'invalid' || message.body === undefined) return this.#misunderstood('its bytes');
      this.#read(message.type, message.body);
    }
  }

  #read(type: string, body: Uint8Array): void {
    const reader = new BodyReader(body);
    switch (type) {
      case 'R':
        if (reader.int32() === 0) return;
        return this.#fail('move_login', 'it wants a proof of the client', false);
      case 'S':
        this.#parameters.set(reader.text() ?? '', reader.text() ?? '');
        return;
      case 'K':
        this.#key = readKey(body, 0, body.length);
        return;
      case 'N':
        return;
      case 'E': {
        const { sqlState, message } = serverError(body, 'the login');
        return this.#fail('move_login', `FATAL ${sqlState} ${message}`, FOR_NOW.has(sqlState));
      }
      case 'Z':
        return body[0] === IDLE ? this.#beginRestore() : this.#misunderstood('its first status');
      default:
        return this.#misunderstood(`message ${type}`);
    }
  }

  #beginRestore(): void {
    const { state, backend } = this.#inputs;
    const serverMajor = Number.parseInt(this.#parameters.get('server_version') ?? '', 10);
    const restore = new SessionRestore({ state, serverMajor, unnamedStatement: undefined });
    this.#restore = restore;
    backend.write(restore.start());
    const rest = this.#reader.rest();
    if (rest.length > 0) this.#restored(restore, rest);
  }

  #restored(restore: SessionRestore, chunk: Uint8Array): void {
    const step = restore.take(chunk);
    if (step.kind === 'wait') return undefined;
    if (step.kind === 'send') return void this.#inputs.backend.write(step.bytes);
    if (step.result.kind === 'failed') return this.#fail(step.result.reason, step.result.why, false);
    const parameters = new Map([...this.#parameters, ...step.parameters]);
    this.#leave().pause();
    return this.#inputs.onDone({ key: this.#key, parameters, rest: step.rest });
  }

  #misunderstood(what: string): void {
    this.#fail('move_login', `the login is not understood: ${what}`, false);
  }

  #fail(reason: MoveFailure, detail: string, isForNow: boolean): void {
    if (this.#isDone) return;
    this.#leave().destroy();
    this.#inputs.onFailed({ reason, detail, isForNow });
  }

  #leave(): Socket {
    const { backend } = this.#inputs;
    this.#isDone = true;
    this.#cancelLimit();
    return backend.off('data', this.#received).off('end', this.#closed).off('close', this.#closed);
  }
}
