// Verifiers from the next primary, by the operator's query on one connection, one question after another. The library
// `pg` is loaded for the first one, and never sees a value.
import { readFile } from 'node:fs/promises';
import { Duplex } from 'node:stream';
import type Pg from 'pg';
import type { Client } from 'pg';
import { fileFault } from '../model/errno.ts';
import { addressText, type Address } from '../model/member.ts';
import type { VerifierPolicy } from '../model/moves.ts';
import { passwordIn } from '../model/password-file.ts';
import { onOneLine, shown } from '../model/printable.ts';
import { takingTurns } from '../model/taking-turns.ts';
import { MaskedRows, type MaskedRow } from './masked-rows.ts';
import { MOST_ITERATIONS, ScramOnly } from './scram-only.ts';
import { SourceError, type ConnectToServer, type VerifierAnswer, type VerifierSource } from './source.ts';

type QueryPolicy = Extract<VerifierPolicy, { kind: 'query' }>;

interface QuerySession {
  /** Ends the connection at once, or its attempt. */
  readonly drop: AbortController;
  readonly client: Promise<Client>;
  readonly masked: MaskedRows;
}

/** The function in deploy/moves.sql. */
const OWN_FUNCTION = /\bpointsman\.verifier\(/;
const CONDITIONS = 'it must be a member of pointsman_movable, with a password that has not expired, and no superuser';
/** Longer than one with a verifier. */
const LONGER_ANSWER = "SELECT pg_catalog.repeat('x', 500)";
/** The server ends a question that takes longer, also when Pointsman is gone. */
const STATEMENT_TIMEOUT = '5s';
/** The connection ends then at the latest, whatever its server does. Milliseconds. */
const LAST_MS = 5_000;

export class QuerySource implements VerifierSource {
  readonly #policy: QueryPolicy;
  readonly #server: Address;
  readonly #connect: ConnectToServer;
  /** The server has said something. */
  readonly #onHeard: () => void;
  #session: QuerySession | undefined;
  readonly #inTurn = takingTurns();
  #isAsking = false;
  #isClosed = false;

  constructor(policy: QueryPolicy, server: Address, connect: ConnectToServer, onHeard: () => void) {
    this.#policy = policy;
    this.#server = server;
    this.#connect = connect;
    this.#onHeard = onHeard;
  }

  read(role: string, signal: AbortSignal): Promise<VerifierAnswer> {
    // A silent server ends neither this question nor the work before it.
    const giveUp = (): void => this.#session?.drop.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    const answer = this.#inTurn(() =>
      this.#ask(role, signal).finally(() => signal.removeEventListener('abort', giveUp)),
    );
    void this.#inTurn(() => this.#overwriteTls());
    return answer;
  }

  /** A question under way ends at once. Behind an answer the connection stays until TLS has nothing left of it. */
  close(): void {
    this.#isClosed = true;
    const session = this.#session;
    if (session === undefined) return;
    if (this.#isAsking) return this.#drop(session);
    const limit = setTimeout(() => this.#drop(session), LAST_MS);
    limit.unref();
    void this.#inTurn(() => endPolitely(session)).finally(() => clearTimeout(limit));
    return undefined;
  }

  async #ask(role: string, signal: AbortSignal): Promise<VerifierAnswer> {
    const { default: pg } = await import('pg');
    signal.throwIfAborted();
    if (this.#isClosed) throw new SourceError('its batch of moves is over');
    const session = (this.#session ??= this.#open(pg));
    this.#isAsking = true;
    try {
      const client = await session.client;
      const { query: text } = this.#policy;
      const values = [role];
      await client.query({ text, values, rowMode: 'array' });
      return answerOf(role, session.masked.rows(), this.#who(), OWN_FUNCTION.test(text) ? `: ${CONDITIONS}` : '');
    } catch (error) {
      if (!isPlainError(error)) this.#drop(session);
      if (signal.aborted) throw new SourceError(`${this.#who()}: ${reasonOf(signal)}`);
      const refusal = session.masked.refusal();
      if (refusal !== undefined) throw new SourceError(`${this.#who()}: ${refusal}`);
      throw error instanceof SourceError ? error : new SourceError(`${this.#who()}: ${faultOf(error)}`);
    } finally {
      overwrite(session.masked.rows());
      this.#isAsking = false;
    }
  }

  /** TLS keeps the bytes that it has decrypted, until a longer answer takes their place. */
  async #overwriteTls(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    try {
      await (await session.client).query(LONGER_ANSWER);
    } catch {
      this.#drop(session);
    } finally {
      overwrite(session.masked.rows());
    }
  }

  #who(): string {
    return `role "${shown(this.#policy.user)}" on ${addressText(this.#server)}`;
  }

  #open(pg: typeof Pg): QuerySession {
    const { user, database, passwordFile } = this.#policy;
    const masked = new MaskedRows(new ScramOnly(passwordFile !== undefined));
    const drop = new AbortController();
    // Everything is explicit, because the library takes what is missing from variables such as PGPASSWORD. The stream
    // is connected already, with TLS where `backend.tls` wants it.
    const options = {
      ...this.#server,
      user,
      database,
      password: () => passwordOf(passwordFile),
      ssl: false,
      client_encoding: 'utf8',
      application_name: 'pointsman',
      options: `-c statement_timeout=${STATEMENT_TIMEOUT}`,
      // The types of the library do not know it.
      scramMaxIterations: MOST_ITERATIONS,
    };
    const open = async (): Promise<Client> => {
      const stream = new WatchedStream(await this.#connect(drop.signal), masked, this.#onHeard);
      this.#onHeard();
      drop.signal.addEventListener('abort', () => stream.destroy(), { once: true });
      const client = new pg.Client({ ...options, stream: () => stream });
      // A question in progress is rejected as well.
      client.on('error', () => this.#drop(session));
      client.on('end', () => this.#drop(session));
      await client.connect();
      return client;
    };
    const session: QuerySession = { drop, masked, client: open() };
    return session;
  }

  #drop(session: QuerySession): void {
    session.drop.abort();
    if (this.#session === session) this.#session = undefined;
  }
}

/**
 * The library sees what is left of the bytes of a connected socket. It throws at bytes that are no message: that ends
 * the connection.
 */
class WatchedStream extends Duplex {
  readonly #socket: Duplex;
  readonly #masked: MaskedRows;

  constructor(socket: Duplex, masked: MaskedRows, onHeard: () => void) {
    // The library waits for the close behind the end of the server.
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#masked = masked;
    socket.on('data', onHeard).on('data', (chunk: Buffer) => this.push(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error)).on('close', () => this.destroy());
  }

  /** The library expects it of a stream. */
  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  override _read(): void {
    // The answer of a question is small: nothing waits for it.
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  override emit(event: string | symbol, ...values: readonly unknown[]): boolean {
    const [chunk] = values;
    if (event === 'data' && Buffer.isBuffer(chunk)) this.#masked.take(chunk);
    try {
      if (this.#masked.refusal() === undefined || event === 'close') return super.emit(event, ...values);
    } catch (error) {
      this.destroy(error instanceof Error ? error : undefined);
      return true;
    }
    this.destroy();
    return true;
  }
}

async function endPolitely({ drop, client }: QuerySession): Promise<void> {
  await client.then((connected) => connected.end()).catch(() => {});
  drop.abort();
}

/** Rejects with a SourceError. */
async function passwordOf(file: string | undefined): Promise<string> {
  if (file === undefined) throw new SourceError('the server asks for a password: give moves.verifiers.password_file');
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new SourceError(`${file} cannot be read: ${fileFault(error)}`);
  });
  const { password, why } = passwordIn(content);
  if (password === undefined) throw new SourceError(`${file} ${why}`);
  return password;
}

function overwrite(rows: readonly MaskedRow[]): void {
  for (const value of rows.flat()) value?.fill(0);
}

function answerOf(role: string, rows: readonly MaskedRow[], who: string, conditions: string): VerifierAnswer {
  const values = rows.flat();
  const [verifier] = values;
  if (rows.length > 1 || values.length > 1) {
    overwrite(rows);
    const seen = rows.length > 1 ? `${rows.length} rows` : `${values.length} columns`;
    throw new SourceError(`${who}: moves.verifiers.query returned ${seen}: it must return one row with one column`);
  }
  if (verifier instanceof Buffer) return { kind: 'found', verifier };
  return { kind: 'none', why: `${who} got no verifier for role "${shown(role)}"${conditions}` };
}

/** The severity that PostgreSQL names. After ERROR the connection goes on. */
function isPlainError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : 'given up';
}

/** An error may quote a value of the query: verifiers are blotted out. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  const text = onOneLine(error.message).replaceAll(/SCRAM-SHA-256\$[^\s"']*|md5[0-9a-f]{32}/g, '[verifier]');
  return `${text}${code}${/no encryption|SSL off/.test(text) ? NO_TLS : ''}`;
}

const NO_TLS = '; the servers want TLS: set backend.tls, or give pg_hba.conf a line host or hostnossl for this role';
