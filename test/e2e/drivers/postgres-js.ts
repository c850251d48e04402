// postgres.js: see README.md.
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { encryption, endWithInput, LARGE, POOL, RECOVERY, runCases, tell, textOf, WRITE } from './common.ts';

const ssl = encryption();

function session(max = 1, options?: string): postgres.Sql {
  return postgres({
    max,
    ssl,
    onnotice: () => undefined,
    ...(options === undefined ? {} : { connection: { options } }),
  });
}

async function value(sql: postgres.Sql, text: string): Promise<string> {
  const [row] = await sql.unsafe(text);
  return String(Object.values(row ?? {})[0]);
}

async function failing(sql: postgres.Sql, query: PromiseLike<unknown>): Promise<string> {
  let state: string | undefined = 'no error';
  try {
    await query;
  } catch (error) {
    state = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  }
  return `${state} ${await value(sql, 'select 1')}`;
}

const cases = {
  connect: () => value(session(), 'select 1'),
  prepared: async () => {
    const sql = session();
    const found = [];
    for (let n = 0; n < 3; n += 1) found.push((await sql<{ sum: number }[]>`select ${41}::int + 1 as sum`)[0]?.sum);
    return found.join(' ');
  },
  transaction: async () => {
    const sql = session();
    await sql`create temporary table t (n int)`;
    const counts = [];
    for (const isWanted of [false, true]) {
      const insert = async (begun: postgres.TransactionSql): Promise<void> => {
        await begun`insert into t values (1)`;
        if (!isWanted) throw new Error('not wanted');
      };
      await sql.begin(insert).catch(() => undefined);
      counts.push(await value(sql, 'select count(*) from t'));
    }
    return counts.join(' ');
  },
  large: async () => {
    const rows = await session().unsafe<{ n: number }[]>(LARGE);
    return `${rows.length} ${rows.reduce((sum, { n }) => sum + n, 0)}`;
  },
  error: () => {
    const sql = session();
    return failing(sql, sql`select 1/0`);
  },
  copy: async () => {
    const sql = session();
    await sql`create temporary table t (n int)`;
    const into = await sql`copy t from stdin`.writable();
    const written = new Promise((resolve, reject) => into.once('finish', resolve).once('error', reject));
    into.end(Array.from({ length: 1000 }, (_, n) => `${n + 1}\n`).join(''));
    await written;
    const numbers = (await (await sql`copy t to stdout`.readable()).toArray()).join('').trim().split('\n').map(Number);
    return `${numbers.length} ${numbers.reduce((sum, n) => sum + n, 0)}`;
  },
  cancel: async () => {
    const sql = session();
    await sql`select 1`;
    const query = sql`select pg_sleep(60)`.execute();
    setTimeout(() => query.cancel(), 300);
    return failing(sql, query);
  },
  recovery: () => value(session(), RECOVERY),
  pool: () => value(session(1, POOL), RECOVERY),
};

async function keepWriting(sql: postgres.Sql): Promise<never> {
  for (;;) {
    try {
      tell('work', 'ok', await value(sql, WRITE));
      await delay(100);
    } catch (error) {
      // A broken session and a failed connect look the same here.
      tell('work', 'statement-error', textOf(error));
    }
  }
}

if (process.argv[2] === 'work') {
  const sql = session(3);
  endWithInput();
  await Promise.all([1, 2, 3].map(() => keepWriting(sql)));
}
await runCases(cases);
