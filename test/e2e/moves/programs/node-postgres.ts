// node-postgres: see README.md.
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type Connection, Query, type QueryArrayConfig } from 'pg';
import {
  countAndSum,
  encryption,
  Load,
  numbersUpTo,
  serve,
  type Session,
  stateOf,
  tellEvent,
  textOf,
} from './common.ts';

declare module 'pg' {
  interface Client {
    /** The published types lack it: it sends the request on its own connection. */
    cancel(client: Client, query: Query): void;
    readonly connection: Connection;
  }
}

interface Told {
  readonly parameterName: string;
  readonly parameterValue: string;
}

const ssl = encryption();
/** It offers to bind the login, and the server of the test offers it. */
const enableChannelBinding = process.env['PGCHANNELBINDING'] === 'require';

serve(async (name, options): Promise<Session> => {
  const more = options === '' ? {} : { options };
  const client = new Client({ ssl, enableChannelBinding, application_name: name, ...more });
  const told = new Map<string, string>();
  client.on('error', (error) => tellEvent(name, 'error', stateOf(error), textOf(error)));
  client.on('end', () => tellEvent(name, 'end'));
  client.on('notice', ({ message }) => tellEvent(name, 'notice', message ?? ''));
  client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Told) => {
    told.set(parameterName, parameterValue);
  });
  await client.connect();
  const statements = new Map<string, string>();
  let load: Load | undefined;

  async function first(query: Omit<QueryArrayConfig, 'rowMode'>): Promise<string> {
    const { rows } = await client.query<[string | number | boolean | null]>({ ...query, rowMode: 'array' });
    return String(rows[0]?.[0] ?? '');
  }

  return {
    verbs: {
      run: async (text = '') => {
        await client.query(text);
        return '';
      },
      value: (text = '') => first({ text }),
      bind: (text = '', value = '') => first({ text, values: [Number(value)] }),
      prepare: async (statement = '', text = '') => {
        statements.set(statement, text);
        await client.query({ name: statement, text, values: [0] });
        return '';
      },
      execute: (statement = '', value = '') =>
        first({ name: statement, text: statements.get(statement) ?? '', values: [Number(value)] }),
      cursor: async (query = '') => {
        const numbers: number[] = [];
        await client.query(`begin; declare numbers cursor for ${query}`);
        for (;;) {
          const { rows } = await client.query<{ n: number }>('fetch 100 from numbers');
          numbers.push(...rows.map(({ n }) => n));
          if (rows.length === 0) break;
        }
        await client.query('commit');
        return countAndSum(numbers);
      },
      batch: async (table = '', count = '') => {
        const text = `insert into ${table} values ($1)`;
        for (const n of numbersUpTo(count)) await client.query({ name: 'batch', text, values: [n] });
        return '';
      },
      pipeline: async (count = '') => {
        const answers = numbersUpTo(count).map((n) => first({ text: 'select $1::int', values: [n] }));
        return String((await Promise.all(answers)).reduce((sum, n) => sum + Number(n), 0));
      },
      cancel: async () => {
        const query = new Query('select pg_sleep(60)');
        const state = new Promise<string>((resolve) => {
          query.once('error', (error: Error & { readonly code?: string }) => resolve(error.code ?? error.message));
          query.once('end', () => resolve('no error'));
        });
        client.query(query);
        await delay(300);
        new Client({ ssl }).cancel(client, query);
        return state;
      },
      parameter: async (parameter = '') => told.get(parameter) ?? '',
      transaction: async () => (client.getTransactionStatus() === 'I' ? 'idle' : 'open'),
      load: async (table = '') => {
        load = new Load(() => client.query(`insert into ${table} (source) values ($1)`, [name]));
        return '';
      },
      unload: async () => (await load?.end()) ?? '',
    },
  };
});
