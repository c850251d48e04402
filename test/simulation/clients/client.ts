// A simulated application: connects, transacts with numbers that it uses once, keeps state in its session, cancels,
// waits, and connects again whenever its connection is lost. It never sends a write again.
import type { Transfer } from '../postgres/wal.ts';
import type { Random } from '../world/random.ts';
import type { Host, World } from '../world/world.ts';
import { ClientAccount, type ClientMischief, type ClientSession, type ClientWrite } from './client-account.ts';
import { CANCELED, Connection, answeredHere, type RequestEnd } from './connection.ts';
import { LongTransaction } from './long-transaction.ts';
import { SessionState } from './session-state.ts';

export interface ConnectTarget {
  readonly address: string;
  readonly port: number;
}

export interface ClientOptions {
  readonly world: World;
  readonly host: Host;
  readonly name: string;
  /** Where it connects: the next one when one fails, and with the first one again after that. */
  readonly targets: () => readonly ConnectTarget[];
  /** A reader never writes. */
  readonly kind: 'writer' | 'reader';
  /** Between two steps, on average. Milliseconds. */
  readonly paceMs: number;
  /** Some of its transactions take long. */
  readonly lingers?: boolean;
  readonly patienceMs?: number;
  /** The database in the startup packet: with the pool. */
  readonly database?: string;
}

type Step = (connection: Connection, session: ClientSession) => Promise<boolean>;

const ACCOUNTS = 5;
/** So many of its steps are long transactions, beside those that all clients take. */
const MOST_LINGER = 8;

export class Client {
  readonly account: ClientAccount;
  readonly #options: ClientOptions;
  readonly #random: Random;
  #state: SessionState;
  /** The last two: the older one is over. */
  #connections: readonly Connection[] = [];
  #isStopping = false;
  #isOver = false;
  /** Attempts that failed since the last success. */
  #failures = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#random = options.world.random.fork(`client ${options.name}`);
    this.account = new ClientAccount(options.name, options.world.now);
    this.#state = new SessionState(options.name);
  }

  get address(): string {
    return this.#options.host.address;
  }

  start(): void {
    void this.#live();
  }

  /** Ends after the step that is under way. */
  stop(): void {
    this.#isStopping = true;
  }

  isOver(): boolean {
    return this.#isOver;
  }

  /** It waits for an answer since. Undefined: it does not wait. */
  waitsSince(): number | undefined {
    return this.#connections[0]?.waitsSince();
  }

  /** Its machine is gone without a word: so is the client. */
  vanish(): void {
    this.#options.host.crash();
    this.#isOver = true;
  }

  isInTransaction(): boolean {
    const [connection] = this.#connections;
    return connection?.isOver() === false && ['T', 'E'].includes(connection.status());
  }

  /** In whatever stage its session is. */
  halfClose(): void {
    this.#mischief('half-closes')?.halfClose();
  }

  reset(): void {
    this.#mischief('resets')?.reset();
  }

  /** A cancel request for whatever its session does, or for the session before that. */
  cancel(which: 'session' | 'session before'): void {
    const connection = which === 'session' ? this.#mischief('cancels') : this.#connections[1];
    connection?.cancel();
  }

  async #live(): Promise<void> {
    while (!this.#isStopping) {
      const session = this.account.begins();
      const connection = await this.#connect(session);
      if (connection !== undefined) await this.#use(connection, session);
      session.endedAt = this.#options.world.now();
      await this.#pause(this.#random.between(20, 500));
    }
    this.#isOver = true;
  }

  async #connect(session: ClientSession): Promise<Connection | undefined> {
    const { host, name, targets, patienceMs = 30_000, database = 'shop' } = this.#options;
    const known = targets();
    const target = known[this.#failures % known.length];
    if (target === undefined) throw new Error(`${name} has no target`);
    const own = { applicationName: name, session: `${name}-${session.number}` };
    const options = { ...target, ...own, host, user: 'app', database, patienceMs };
    const connection = new Connection(options);
    this.#connections = [connection, ...this.#connections.slice(0, 1)];
    connection.onAnswered = (from) => {
      const isLogin = session.readyAt === undefined;
      this.account.waits.push({ session: session.number, isLogin, from, to: this.#options.world.now() });
    };
    const end = await connection.open();
    if (end.kind === 'done') {
      this.#failures = 0;
      session.readyAt = this.#options.world.now();
      return connection;
    }
    this.#failures += 1;
    session.ending = endingOf(end);
    connection.drop();
    return undefined;
  }

  async #use(connection: Connection, session: ClientSession): Promise<void> {
    this.#state = new SessionState(this.#options.name);
    connection.onEnd = (code) => {
      session.ending = code ?? 'closed without a word';
    };
    if (this.#random.chance(0.5) && !(await this.#compare(connection, session))) return connection.close();
    while (!this.#isStopping && !connection.isOver()) {
      const isThere = await this.#step()(connection, session);
      if (!isThere) break;
      await this.#pause(this.#random.between(0.2, 1.8) * this.#options.paceMs);
      if (this.#random.chance(0.02)) break;
    }
    connection.close();
    return undefined;
  }

  #step(): Step {
    const writes: readonly Step[] = [
      this.#insert,
      this.#insert,
      this.#transact,
      this.#transact,
      this.#transfer,
      this.#cancel,
      this.#pipeline,
      this.#read,
    ];
    const { lingers = false } = this.#options;
    const slow = Array.from({ length: lingers ? MOST_LINGER : 0 }, () => this.#linger);
    const others: readonly Step[] = [this.#read, this.#change, this.#compare, this.#wait, this.#unnamed, ...slow];
    return this.#random.pick(this.#options.kind === 'writer' ? [...writes, ...others] : others);
  }

  readonly #insert: Step = async (connection, session) => {
    const write = this.account.sends(session.number);
    const isExtended = this.#random.chance(0.4);
    const { name } = this.#options;
    return this.#wrote(
      session,
      await (isExtended
        ? connection.run(`INSERT INTO writes VALUES ('${name}', $1)`, [String(write.number)])
        : connection.query(`INSERT INTO writes VALUES ('${name}', ${write.number})`)),
      write,
    );
  };

  /** Several requests at once, each a transaction of its own. */
  readonly #pipeline: Step = async (connection, session) => {
    const writes = Array.from({ length: 2 + this.#random.int(3) }, () => this.account.sends(session.number));
    const sql = `INSERT INTO writes VALUES ('${this.#options.name}', $1)`;
    const ends = writes.map(({ number }) => connection.run(sql, [String(number)]));
    const results = [];
    for (const [index, end] of (await Promise.all(ends)).entries()) {
      results.push(this.#wrote(session, end, writes[index]));
    }
    return results.every(Boolean);
  };

  /** An unnamed statement that is bound only after a while. */
  readonly #unnamed: Step = async (connection, session) => {
    const parsed = await connection.prepare('', 'SELECT pg_is_in_recovery()');
    if (parsed.kind !== 'done') return this.#ends(session, parsed, []);
    await this.#pause(this.#random.between(10, 3_000));
    const end = await connection.execute('', []);
    if (end.kind === 'failed' && end.code !== CANCELED) {
      this.account.differences.push(`session ${session.number}: the unnamed statement: ${end.code} ${end.message}`);
    }
    return this.#ends(session, end, []);
  };

  readonly #transfer: Step = (connection, session) => {
    const amount = this.#random.int(50) + 1;
    return this.#inTransaction(connection, session, [
      { account: this.#random.int(ACCOUNTS) + 1, amount: -amount },
      { account: this.#random.int(ACCOUNTS) + 1, amount },
    ]);
  };

  readonly #transact: Step = (connection, session) =>
    this.#inTransaction(connection, session, Array.from({ length: 1 + this.#random.int(3) }));

  /** A transaction of several statements, which may take its time. */
  async #inTransaction(
    connection: Connection,
    session: ClientSession,
    parts: readonly (Transfer | undefined)[],
  ): Promise<boolean> {
    const { name } = this.#options;
    const writes: ClientWrite[] = [];
    const begin = await connection.query('BEGIN');
    if (begin.kind !== 'done') return this.#ends(session, begin, []);
    for (const part of parts) {
      const write = this.account.sends(session.number, part);
      writes.push(write);
      const sql =
        part === undefined
          ? `INSERT INTO writes VALUES ('${name}', ${write.number})`
          : `SELECT transfer('${name}', ${write.number}, ${part.account}, ${part.amount})`;
      const end = await connection.query(sql);
      if (end.kind !== 'done') {
        // Without a COMMIT nothing of it can be there.
        this.account.told(writes, 'none');
        // A cancel request may take the ROLLBACK out.
        let isLost = end.kind === 'lost';
        while (!isLost && connection.status() === 'E') isLost = (await connection.query('ROLLBACK')).kind === 'lost';
        return this.#ends(session, end, []);
      }
      if (this.#random.chance(0.3)) await this.#pause(this.#random.between(1, 2 * this.#options.paceMs));
    }
    if (this.#random.chance(0.15)) {
      const rollback = await connection.query('ROLLBACK');
      this.account.told(writes, 'none');
      return this.#ends(session, rollback, []);
    }
    return this.#ends(session, await connection.query('COMMIT'), writes);
  }

  readonly #linger: Step = async (connection, session) => {
    const { name: client, kind } = this.#options;
    const pause = (ms: number): Promise<void> => this.#pause(ms);
    const [random, account, state] = [this.#random, this.account, this.#state];
    const transaction = new LongTransaction({ client, kind, connection, session, account, state, random, pause });
    return this.#ends(session, await transaction.run(), []);
  };

  readonly #read: Step = async (connection, session) => {
    const end = await connection.query(`SELECT number FROM writes WHERE client = '${this.#options.name}'`);
    if (end.kind === 'done') this.account.shows(session.number, new Set(end.rows.map(([number]) => Number(number))));
    return this.#ends(session, end, []);
  };

  readonly #change: Step = async (connection, session) => {
    const isThere = await this.#state.change(connection, this.#random);
    if (!isThere) session.ending ??= 'lost';
    return isThere;
  };

  readonly #compare: Step = async (connection, session) => {
    const differences = await this.#state.compare(connection);
    if (differences === undefined) {
      session.ending ??= 'lost';
      return false;
    }
    this.account.differences.push(...differences.map((text) => `session ${session.number}: ${text}`));
    return true;
  };

  readonly #wait: Step = async () => {
    await this.#pause(this.#random.between(500, this.#random.chance(0.3) ? 14_000 : 4_000));
    return true;
  };

  /** A statement that takes long, and is canceled. */
  readonly #cancel: Step = async (connection, session) => {
    const { clock } = this.#options.host;
    const seconds = this.#random.between(0.1, 2).toFixed(2);
    const cancel = clock.schedule(this.#random.between(1, 1_000), () => connection.cancel());
    const end = await connection.query(`SELECT pg_sleep(${seconds})`);
    cancel();
    this.account.cancels.push(end.kind === 'done' ? 'done' : (end.code ?? end.kind));
    return this.#ends(session, end, []);
  };

  /** A transaction of its own. */
  #wrote(session: ClientSession, end: RequestEnd, write: ClientWrite | undefined): boolean {
    const answered = answeredHere(end);
    if (answered !== undefined) this.account.isTakenOut(write, answered === 'void');
    return this.#ends(session, end, write === undefined ? [] : [write]);
  }

  /** True: the connection goes on. */
  #ends(session: ClientSession, end: RequestEnd, writes: readonly ClientWrite[]): boolean {
    if (end.kind === 'done') {
      // A COMMIT of a transaction that has failed is a ROLLBACK.
      const outcome = end.tag === 'ROLLBACK' ? 'none' : 'acknowledged';
      this.account.told(writes, outcome, end.notices.includes('01000'));
    }
    if (end.kind === 'failed') this.account.told(writes, 'none');
    if (end.kind === 'lost') {
      this.account.told(writes, 'unknown');
      session.ending = endingOf(end);
    }
    return end.kind !== 'lost';
  }

  #mischief(what: ClientMischief['what']): Connection | undefined {
    const [connection] = this.#connections;
    if (connection === undefined || connection.isOver()) return undefined;
    this.account.does(what, this.isInTransaction());
    return connection;
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#options.host.clock.schedule(ms, resolve);
    return promise;
  }
}

function endingOf(end: RequestEnd): string {
  if (end.kind === 'failed') return end.code;
  return end.kind === 'lost' ? (end.code ?? end.why) : 'done';
}
