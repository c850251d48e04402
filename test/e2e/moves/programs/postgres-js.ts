// postgres.js: see README.md.
import postgres from 'postgres';
import { countAndSum, encryption, Load, numbersUpTo, serve, type Session, stateOf, tellEvent } from './common.ts';

const ssl = encryption();

serve(async (name, options): Promise<Session> => {
  const sql = postgres({
    max: 1,
    ssl,
    onnotice: ({ message }) => tellEvent(name, 'notice', message ?? ''),
    onclose: () => tellEvent(name, 'end'),
    connection: { application_name: name, ...(options === '' ? {} : { options }) },
  });
  await sql`select 1`;
  const statements = new Map<string, string>();
  let load: Load | undefined;

  return {
    verbs: {
      run: async (text = '') => {
        await sql.unsafe(text);
        return '';
      },
      value: (text = '') => first(sql.unsafe(text)),
      bind: (text = '', value = '') => first(sql.unsafe(text, [Number(value)])),
      prepare: async (statement = '', text = '') => {
        statements.set(statement, text);
        await sql.unsafe(text, [0], { prepare: true });
        return '';
      },
      execute: (statement = '', value = '') =>
        first(sql.unsafe(statements.get(statement) ?? '', [Number(value)], { prepare: true })),
      copy_in: async (table = '', count = '') => {
        const into = await sql.unsafe(`copy ${table} from stdin`).writable();
        const written = new Promise((resolve, reject) => into.once('finish', resolve).once('error', reject));
        into.end(
          numbersUpTo(count)
            .map((n) => `${n}\n`)
            .join(''),
        );
        await written;
        return '';
      },
      copy_out: async (query = '') => {
        const parts = await (await sql.unsafe(`copy (${query}) to stdout`).readable()).toArray();
        return countAndSum(parts.join('').trim().split('\n').map(Number));
      },
      cursor: async (query = '') => {
        const numbers: number[] = [];
        await sql.unsafe<{ n: number }[]>(query).cursor(100, (rows) => {
          numbers.push(...rows.map(({ n }) => n));
        });
        return countAndSum(numbers);
      },
      pipeline: async (count = '') => {
        const answers = await Promise.all(numbersUpTo(count).map((n) => first(sql`select ${n}::int`)));
        return String(answers.reduce((sum, n) => sum + Number(n), 0));
      },
      batch: async (table = '', count = '') => {
        await Promise.all(numbersUpTo(count).map((n) => sql`insert into ${sql(table)} values (${n})`));
        return '';
      },
      cancel: async () => {
        const query = sql`select pg_sleep(60)`.execute();
        setTimeout(() => query.cancel(), 300);
        return query.then(() => 'no error', stateOf);
      },
      parameter: async (parameter = '') => String(Reflect.get(sql.parameters, parameter)),
      load: async (table = '') => {
        load = new Load(() => sql`insert into ${sql(table)} (source) values (${name})`);
        return '';
      },
      unload: async () => (await load?.end()) ?? '',
    },
  };
});

async function first(query: PromiseLike<readonly postgres.Row[]>): Promise<string> {
  const [row] = await query;
  return String(Object.values(row ?? {})[0] ?? '');
}
