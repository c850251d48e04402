// postgres.js in a process of its own: version 3.4.9 ends its process when a connection ends at the wrong moment.
import postgres from 'postgres';
import { sqlstateOf } from './application.ts';
import { AUTHORITY, type PostgresJsAnswer, postgresJsRequest } from './postgres-js-messages.ts';

/** Each is the end of a session: until this process leaves, the pool may connect again. */
let ends = 0;
/** In which the error of a statement is told. */
const TOLD_MS = 50;

const ca = process.env[AUTHORITY] ?? '';

/** The environment has the rest. */
const sql = postgres({
  host: '127.0.0.1',
  // It does not tell which of several connections ended.
  max: 1,
  ssl: ca === '' ? false : { ca, servername: 'localhost' },
  fetch_types: false,
  onnotice: () => undefined,
  onclose: leave,
});

/** After an end of a connection the pool may lose a statement and never answer. The workload starts it anew. */
function leave(): void {
  ends += 1;
  setTimeout(() => process.exit(), TOLD_MS);
}

function tell(answer: PostgresJsAnswer): void {
  process.send?.(answer);
}

async function first(asked: PromiseLike<readonly postgres.Row[]>): Promise<string> {
  const [row = {}] = await asked;
  const value: unknown = Object.values(row)[0];
  return typeof value === 'string' ? value : '';
}

async function answer(message: unknown): Promise<void> {
  const { id, statements, isTransaction } = postgresJsRequest.parse(message);
  try {
    const value = isTransaction
      ? await sql.begin(async (transaction) => {
          let last = '';
          for (const [at, statement] of statements.entries()) {
            if (at === statements.length - 1) tell({ id, kind: 'sending' });
            last = await first(transaction.unsafe(statement));
          }
          tell({ id, kind: 'committing' });
          return last;
        })
      : await first(sql.unsafe(statements[0] ?? '', [], { prepare: true }));
    tell({ id, kind: 'value', value, session: `${process.pid} ${ends}` });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    tell({ id, kind: 'error', words, state: sqlstateOf(error) ?? '' });
  }
}

process.on('message', (message) => void answer(message));
process.on('disconnect', () => process.exit());
