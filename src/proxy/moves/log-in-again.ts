// Logs a session in at its next server and restores its state there, without its client. Reports once, and nothing
// after the abort. Whatever is not expected fails the login.
import type { Clock } from '../../model/instant.ts';
import type { MoveFailure } from '../../model/close-reason.ts';
import type { CarriedState, VerifierLookup } from '../../model/moves.ts';
import { nothing } from '../../model/once.ts';
import { BackendLogin, type BackendLoginOptions, type BackendLoginStep } from '../../wire/talk/backend-login.ts';
import type { CancelKey } from '../../wire/messages/cancel-key.ts';
import { FailedTransaction } from '../../wire/talk/failed-transaction.ts';
import { SessionRestore, type CarriedUnnamed } from '../../wire/talk/session-restore.ts';
import { mayPass } from '../../wire/messages/sql-state.ts';
import { HASHES, nodeCrypto } from '../hashes.ts';
import { endPointOf } from '../login/two-legs.ts';
import { ignoreErrors, type ProxySocket } from '../socket.ts';
import { CatchingUp, type CompareWal } from './catching-up.ts';
import type { FreshnessCheck } from './freshness-rule.ts';

export interface LoggedIn {
  readonly key: CancelKey | undefined;
  /** As the server has told them last, by name. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The session goes on without the unnamed statement. */
  readonly isUnnamedRefused: boolean;
  /** Bytes of the server behind its answers: for the client. */
  readonly rest: Uint8Array;
}

/** `catching_up`: its server does not show yet all that the last one has shown. */
export type LoginStep = 'logging_in' | 'catching_up' | 'restoring';

export interface LoginFailure {
  readonly reason: MoveFailure;
  /** Without an address, and without a secret. */
  readonly detail: string;
  /** Another attempt may succeed: the server is starting, stopping or full, or somebody else had a lock. */
  readonly isForNow: boolean;
}

/** With the parts of the first login that are used again. */
export interface LogInAgainOptions extends Pick<BackendLoginOptions, 'startup' | 'login' | 'negotiated'> {
  /** Connected, and its own from now on. */
  readonly backend: ProxySocket;
  /** Called where the login needs the verifier. Never rejects. */
  readonly findVerifier: () => Promise<VerifierLookup>;
  readonly state: CarriedState;
  readonly unnamed: CarriedUnnamed | undefined;
  /** Last of all, a transaction is begun that fails. */
  readonly hasFailed: boolean;
  /** The next server must have all that the old one has shown. Undefined: that is proven already. */
  readonly check: FreshnessCheck | undefined;
  readonly clock: Clock;
  /** The login is over. */
  readonly onStep: (step: LoginStep) => void;
  /** The backend is the caller's again, paused. */
  readonly onDone: (login: LoggedIn) => void;
  /** The backend is closed. */
  readonly onFailed: (failure: LoginFailure) => void;
}

/** For the login and for the restore together, without the verifier. Milliseconds. */
const LIMIT_MS = 10_000;
const NONCE_BYTES = 18;

export class LogInAgain {
  readonly #options: LogInAgainOptions;
  /** Undefined until there is a verifier. */
  #login: BackendLogin | undefined;
  #cancelLimit = nothing;
  #parameters: ReadonlyMap<string, string> = new Map();
  #key: CancelKey | undefined;
  #catchingUp: CatchingUp | undefined;
  #restore: SessionRestore | undefined;
  #failing: FailedTransaction | undefined;
  #isUnnamedRefused = false;
  #isDone = false;

  constructor(options: LogInAgainOptions) {
    this.#options = options;
  }

  start(): void {
    const { backend, login, findVerifier } = this.#options;
    // A server that closes before there is a verifier is noticed at the login.
    ignoreErrors(backend);
    if (login.method === 'trust') this.#begin(undefined);
    else void findVerifier().then((lookup) => this.#found(lookup));
  }

  /** Closes the backend. Idempotent, and nothing once the outcome is reported. */
  abort(): void {
    if (!this.#isDone) this.#leave().destroy();
  }

  #found(lookup: VerifierLookup): void {
    if (this.#isDone) return undefined;
    if (lookup.kind === 'found') return this.#begin(lookup.verifier);
    return this.#fail('move_login', lookup.why, lookup.kind === 'failed');
  }

  #begin(verifier: Uint8Array | undefined): void {
    const { backend, clock, ...options } = this.#options;
    const login = new BackendLogin({
      ...options,
      verifier,
      nonce: nodeCrypto().randomBytes(NONCE_BYTES),
      serverHash: endPointOf(backend, 'peer'),
      hashes: HASHES,
    });
    this.#login = login;
    const late = (): void => this.#fail('move_login', `no answer within ${LIMIT_MS / 1000} s`, true);
    this.#cancelLimit = clock.schedule(LIMIT_MS, late);
    backend.on('data', this.#received).on('end', this.#closed).on('close', this.#closed);
    backend.resume();
    backend.write(login.start());
  }

  readonly #received = (chunk: Uint8Array): void => {
    if (this.#failing !== undefined) this.#hasFailed(this.#failing, chunk);
    else if (this.#restore !== undefined) this.#restored(this.#restore, chunk);
    else if (this.#catchingUp !== undefined) this.#catchingUp.take(chunk);
    else if (this.#login !== undefined) this.#loggedIn(this.#login.take(chunk));
  };

  readonly #closed = (): void => this.#fail('move_login', 'connection closed by the server', true);

  #loggedIn(step: BackendLoginStep): void {
    if (step.kind === 'wait') return undefined;
    if (step.kind === 'send') return void this.#options.backend.write(step.bytes);
    const { result, parameters, rest } = step;
    if (result.kind === 'failed') {
      const { sqlState, why } = result;
      const detail = sqlState === undefined ? why : `${sqlState} ${why}`;
      return this.#fail('move_login', detail, mayPass(sqlState));
    }
    this.#key = result.cancelKey;
    this.#parameters = parameters;
    const { check } = this.#options;
    return check?.kind === 'catch_up' ? this.#catchUp(check.compare, rest) : this.#beginRestore(rest);
  }

  #catchUp(compare: CompareWal, rest: Uint8Array): void {
    const { backend, clock, onStep } = this.#options;
    onStep('catching_up');
    this.#catchingUp = new CatchingUp({
      serverMajor: this.#serverMajor(),
      clock,
      compare,
      write: (bytes) => backend.write(bytes),
      onDone: (parameters, unread) => {
        this.#parameters = new Map([...this.#parameters, ...parameters]);
        this.#beginRestore(unread);
      },
      onFailed: (detail, isForNow) => this.#fail('move_uncovered', detail, isForNow),
    });
    this.#catchingUp.start(rest);
  }

  #serverMajor(): number {
    return Number.parseInt(this.#parameters.get('server_version') ?? '', 10);
  }

  #beginRestore(rest: Uint8Array): void {
    const { state, unnamed, backend, check, onStep } = this.#options;
    onStep('restoring');
    const serverMajor = this.#serverMajor();
    const asksWal = check?.kind === 'succeed';
    this.#restore = new SessionRestore({ state, serverMajor, unnamed, asksWal });
    backend.write(this.#restore.start());
    if (rest.length > 0) this.#restored(this.#restore, rest);
  }

  #restored(restore: SessionRestore, chunk: Uint8Array): void {
    const step = restore.take(chunk);
    if (step.kind === 'wait') return undefined;
    if (step.kind === 'send') return void this.#options.backend.write(step.bytes);
    const { result, parameters, rest } = step;
    if (result.kind === 'failed') return this.#fail(result.reason, result.why, mayPass(result.sqlState));
    const { check } = this.#options;
    const found = check?.kind === 'succeed' ? check.compare(result.wal) : undefined;
    if (found !== undefined && found.kind !== 'caught_up') {
      return this.#fail('move_uncovered', 'what the old server has shown may be lost', found.kind === 'not_yet');
    }
    this.#parameters = new Map([...this.#parameters, ...parameters]);
    this.#isUnnamedRefused = result.isUnnamedRefused === true;
    return this.#options.hasFailed ? this.#fails(rest) : this.#done(rest);
  }

  #fails(rest: Uint8Array): void {
    this.#failing = new FailedTransaction();
    this.#options.backend.write(this.#failing.start());
    if (rest.length > 0) this.#hasFailed(this.#failing, rest);
  }

  #hasFailed(failing: FailedTransaction, chunk: Uint8Array): void {
    const step = failing.take(chunk);
    if (step.kind !== 'done') return undefined;
    const { error, parameters, rest } = step;
    if (error !== undefined) return this.#fail('move_restore', error.message, mayPass(error.sqlState));
    this.#parameters = new Map([...this.#parameters, ...parameters]);
    return this.#done(rest);
  }

  #done(rest: Uint8Array): void {
    this.#leave().pause();
    const [parameters, isUnnamedRefused] = [this.#parameters, this.#isUnnamedRefused];
    this.#options.onDone({ key: this.#key, parameters, isUnnamedRefused, rest });
  }

  #fail(reason: MoveFailure, detail: string, isForNow: boolean): void {
    if (this.#isDone) return;
    this.#leave().destroy();
    this.#options.onFailed({ reason, detail, isForNow });
  }

  #leave(): ProxySocket {
    const { backend } = this.#options;
    this.#isDone = true;
    this.#cancelLimit();
    this.#login?.clear();
    this.#catchingUp?.stop();
    return backend.off('data', this.#received).off('end', this.#closed).off('close', this.#closed);
  }
}
