// A transaction of a simulated client that takes its time, so that a planned change of its server finds it open: it
// pauses between its statements, sends several at once, and fails by itself. It goes on in a transaction that has
// failed, and ends it as applications do, by ROLLBACK or by COMMIT.
import type { Random } from '../world/random.ts';
import type { ClientAccount, ClientSession, ClientWrite } from './client-account.ts';
import { answeredHere, ROLLED_BACK, type Connection, type RequestEnd } from './connection.ts';
import type { SessionState } from './session-state.ts';

export interface LongTransactionOptions {
  readonly client: string;
  readonly kind: 'writer' | 'reader';
  readonly connection: Connection;
  readonly session: ClientSession;
  readonly account: ClientAccount;
  readonly state: SessionState;
  readonly random: Random;
  readonly pause: (ms: number) => Promise<void>;
}

type Part = () => Promise<readonly RequestEnd[]>;

const ACCOUNTS = 5;
/** The name of a COMMIT that is prepared. */
const ENDING = 'ending';

export class LongTransaction {
  readonly #options: LongTransactionOptions;
  readonly #writes: ClientWrite[] = [];

  constructor(options: LongTransactionOptions) {
    this.#options = options;
  }

  /** Returns the end of the request that decided. The transaction is over then, or the connection is. */
  async run(): Promise<RequestEnd> {
    const { connection, random } = this.#options;
    if (random.chance(0.3)) await this.#prepareEnding();
    const begin = await connection.query('BEGIN');
    if (begin.kind !== 'done') return begin;
    for (let parts = 1 + random.int(4); parts > 0; parts -= 1) {
      await this.#think();
      const ends = await this.#part()();
      const failed = ends.find(({ kind }) => kind !== 'done');
      if (failed !== undefined) return this.#fails(failed);
    }
    await this.#think();
    return random.chance(0.2) ? this.#rollBack() : this.#commit();
  }

  async #prepareEnding(): Promise<void> {
    const { connection, state } = this.#options;
    if (state.hasEnding) return;
    const end = await connection.prepare(ENDING, 'commit');
    state.hasEnding = end.kind === 'done';
  }

  async #commit(): Promise<RequestEnd> {
    const { account } = this.#options;
    const end = await this.#end('COMMIT');
    if (end.kind === 'failed') return this.#fails(end, 'COMMIT');
    if (end.kind === 'lost') account.told(this.#writes, 'unknown');
    else account.told(this.#writes, end.tag === 'COMMIT' ? 'acknowledged' : 'none', end.notices.includes('01000'));
    return end;
  }

  async #rollBack(): Promise<RequestEnd> {
    this.#options.account.told(this.#writes, 'none');
    const end = await this.#end('ROLLBACK');
    return end.kind === 'failed' ? this.#fails(end) : end;
  }

  /** Nothing of the transaction can be there. It has failed, but for a COMMIT that has: then it is over. */
  async #fails(end: RequestEnd, request: 'COMMIT' | 'a statement' = 'a statement'): Promise<RequestEnd> {
    const { account } = this.#options;
    account.told(this.#writes, 'none');
    if (end.kind === 'lost') return end;
    const isRolledBack = end.kind === 'failed' && end.code === ROLLED_BACK;
    if (!isRolledBack) {
      const isOver = account.fails();
      const last = await this.#leave(() => {});
      isOver();
      return last ?? end;
    }
    account.isRolledBack(request);
    return (await this.#leave((next) => account.isRolledBack(next))) ?? end;
  }

  /** Some clients try more first. Returns the request that has lost the connection. */
  async #leave(note: (request: 'more' | 'COMMIT behind it') => void): Promise<RequestEnd | undefined> {
    const { connection, account, random, kind } = this.#options;
    while (connection.status() !== 'I') {
      await this.#think();
      if (random.chance(0.4)) {
        const [next] = await (kind === 'writer' ? this.#insert : this.#read)();
        account.told(this.#writes, 'none');
        if (next?.kind === 'lost') return next;
        if (next?.kind === 'failed' && next.code === '25P02') note('more');
        continue;
      }
      const ending = random.pick(['COMMIT', 'ROLLBACK'] as const);
      const last = await this.#end(ending);
      if (last.kind === 'lost') return last;
      if (last.kind === 'done' && ending === 'COMMIT') note('COMMIT behind it');
    }
    return undefined;
  }

  #part(): Part {
    const { random, kind } = this.#options;
    const writes: readonly Part[] = [this.#insert, this.#insert, this.#insert, this.#transfer, this.#several];
    const others: readonly Part[] = [
      this.#read,
      this.#read,
      this.#wait,
      this.#wait,
      this.#prepare,
      this.#setLocally,
      this.#fault,
    ];
    return random.pick(kind === 'writer' ? [...writes, ...others] : others);
  }

  readonly #insert: Part = async () => {
    const { client, connection, random } = this.#options;
    const write = this.#sends();
    const end = random.chance(0.5)
      ? connection.run(`INSERT INTO writes VALUES ('${client}', $1)`, [String(write.number)])
      : connection.query(`INSERT INTO writes VALUES ('${client}', ${write.number})`);
    return this.#ends([await end], [write]);
  };

  readonly #transfer: Part = async () => {
    const { client, connection, random } = this.#options;
    const amount = random.int(50) + 1;
    const ends: RequestEnd[] = [];
    for (const part of [-amount, amount]) {
      const account = random.int(ACCOUNTS) + 1;
      const write = this.#sends({ account, amount: part });
      const end = await connection.query(`SELECT transfer('${client}', ${write.number}, ${account}, ${part})`);
      ends.push(...this.#ends([end], [write]));
      if (end.kind !== 'done') break;
      await this.#think();
    }
    return ends;
  };

  /** At once. */
  readonly #several: Part = async () => {
    const { client, connection, random } = this.#options;
    const writes = Array.from({ length: 2 + random.int(3) }, () => this.#sends());
    const sql = `INSERT INTO writes VALUES ('${client}', $1)`;
    return this.#ends(await Promise.all(writes.map(({ number }) => connection.run(sql, [String(number)]))), writes);
  };

  readonly #read: Part = async () => {
    const { client, connection, session, account } = this.#options;
    const end = await connection.query(`SELECT number FROM writes WHERE client = '${client}'`);
    const own = new Set(this.#writes.map(({ number }) => number));
    const numbers = end.kind === 'done' ? end.rows.map(([number]) => Number(number)) : [];
    // Own writes of the transaction may never be there again.
    if (end.kind === 'done') account.shows(session.number, new Set(numbers.filter((number) => !own.has(number))));
    return [end];
  };

  /** Longer or shorter than a planned change waits for a statement. */
  readonly #wait: Part = async () => {
    const { connection, random } = this.#options;
    const seconds = random.between(0.05, random.chance(0.5) ? 2 : 0.3).toFixed(2);
    return [await connection.query(`SELECT pg_sleep(${seconds})`)];
  };

  /** A rollback leaves it. */
  readonly #prepare: Part = async () => {
    const { connection, random, state } = this.#options;
    return [await state.prepare(connection, random)];
  };

  /** The end of the transaction takes it back. */
  readonly #setLocally: Part = async () => {
    const { connection, random } = this.#options;
    return [await connection.query(random.pick(["SET LOCAL work_mem = '4MB'", "SET LOCAL app.tenant = 'umbrella'"]))];
  };

  readonly #fault: Part = async () => [await this.#options.connection.query('nonsense')];

  /** In each way in which drivers do it. */
  async #end(sql: 'COMMIT' | 'ROLLBACK'): Promise<RequestEnd> {
    const { connection, random, state, kind } = this.#options;
    // For the witnesses a COMMIT in capital letters is a write.
    const text = kind === 'writer' ? sql : sql.toLowerCase();
    if (sql === 'COMMIT' && state.hasEnding && random.chance(0.5)) return connection.execute(ENDING, []);
    return random.chance(0.3) ? connection.run(text, []) : connection.query(text);
  }

  #sends(transfer?: ClientWrite['transfer']): ClientWrite {
    const { account, session } = this.#options;
    const write = account.sends(session.number, transfer);
    this.#writes.push(write);
    return write;
  }

  #ends(ends: readonly RequestEnd[], writes: readonly ClientWrite[]): readonly RequestEnd[] {
    const { account } = this.#options;
    for (const [index, end] of ends.entries()) {
      const answered = answeredHere(end);
      if (answered !== undefined) account.isTakenOut(writes[index], answered === 'void');
    }
    return ends;
  }

  async #think(): Promise<void> {
    const { random, pause } = this.#options;
    if (random.chance(0.6)) await pause(random.between(1, random.chance(0.4) ? 4_000 : 200));
  }
}
