// Decides what a statement gets: a table, a word without effect, or an error that names what would be right. The
// console reads only; each command of PgBouncer that changes something names the one of `pointsman` that does it here.
import type { ErrorFields } from '../wire/messages/error-response.ts';
import type { BlockStatus } from '../wire/messages/server-messages.ts';
import { SHOWS } from './shows/shows.ts';
import type { Statement } from './statements.ts';
import { showOf, text, type Show } from './console-table.ts';

export type StatementAnswer =
  | { readonly kind: 'show'; readonly show: Show }
  /** Accepted, because drivers send it unasked. `status`: from now on. */
  | { readonly kind: 'done'; readonly tag: string; readonly status?: BlockStatus }
  | { readonly kind: 'error'; readonly fields: ErrorFields };

/** Commands of PgBouncer for things that Pointsman does not have or shows elsewhere. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['USERS', 'Pointsman has no list of users: the server checks them. SHOW POOLS counts the clients'],
  ['PEERS', 'Pointsman has no peers: SHOW LISTS counts the workers'],
  ['PEER_POOLS', 'Pointsman has no peers: SHOW LISTS counts the workers'],
  ['STATS_AVERAGES', 'Pointsman keeps no averages: use SHOW STATS_TOTALS, or GET /metrics of the admin server'],
  ['TOTALS', 'use SHOW STATS_TOTALS, which has a row for each pool'],
  ['FDS', 'use GET /status of the admin server, which has open_files'],
  ['MEM', 'use GET /metrics of the admin server'],
  ['DNS_HOSTS', 'use GET /status of the admin server, which has contact_sources'],
  ['DNS_ZONES', 'use GET /status of the admin server, which has contact_sources'],
  ['STATE', 'use SHOW POOLS, whose column route is open, hold or closed'],
]);

const DRAIN = 'pointsman drain MEMBER keeps sessions away from a member';
const KILL = 'pointsman kill SESSION ends one session; SHOW SESSIONS has the ids';
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['RELOAD', 'pointsman reload reads the configuration again'],
  ['PAUSE', `pointsman switchover moves the primary while clients wait; ${DRAIN}`],
  ['SUSPEND', `${DRAIN}; pointsman resume MEMBER ends it`],
  ['DISABLE', `${DRAIN}; pointsman resume MEMBER ends it`],
  ['RECONNECT', `${DRAIN}, and its sessions reconnect elsewhere`],
  ['WAIT_CLOSE', DRAIN],
  ['RESUME', 'pointsman resume MEMBER ends a drain'],
  ['ENABLE', 'pointsman resume MEMBER ends a drain'],
  ['KILL', KILL],
  ['KILL_CLIENT', KILL],
  ['SHUTDOWN', 'SIGTERM ends the process after a drain (systemctl stop pointsman)'],
]);

const HELP = 'SHOW HELP lists the statements.';
/** Drivers set these at the start, or around each query. */
const SET_BY_DRIVERS: ReadonlySet<string> = new Set([
  'APPLICATION_NAME',
  'BYTEA_OUTPUT',
  'CLIENT_ENCODING',
  'CLIENT_MIN_MESSAGES',
  'DATESTYLE',
  'EXTRA_FLOAT_DIGITS',
  'INTERVALSTYLE',
  'NAMES',
  'SESSION',
  'STATEMENT_TIMEOUT',
  'TIMEZONE',
]);

export interface AnswerOptions {
  readonly parameters: ReadonlyMap<string, string>;
  /** The client knows the admin token. */
  readonly hasToken: boolean;
}

export function answerTo({ words, text }: Statement, context: AnswerOptions): StatementAnswer {
  const [verb = '', object = ''] = words;
  if (verb === 'SHOW') return answerToShow(words, context);
  const transaction = answerToTransaction(words);
  if (transaction !== undefined) return transaction;
  if (verb === 'SET') return answerToSet(object === 'LOCAL' ? (words[2] ?? '') : object);
  const command = COMMANDS.get(verb);
  if (command !== undefined) return readOnly(`${verb} is not a statement of this console, which only reads`, command);
  if (verb === 'SELECT' || verb === 'WITH' || verb === 'TABLE') {
    return failed('0A000', `this is the console of Pointsman, not a database: it cannot run ${verb}`, HELP);
  }
  return failed('42601', `unknown statement: ${text}`, HELP);
}

function answerToShow(
  [, name = '', ...rest]: readonly string[],
  { parameters, hasToken }: AnswerOptions,
): StatementAnswer {
  const show = SHOWS.get(name) ?? parameter([name, ...rest], parameters);
  if (name === '' || show === undefined) {
    const near = [...SHOWS.keys()].find((known) => name !== '' && (known.startsWith(name) || name.startsWith(known)));
    const elsewhere = ELSEWHERE.get(name) ?? (near === undefined ? undefined : `did you mean SHOW ${near}?`);
    const hint = elsewhere === undefined ? HELP : elsewhere.replace(/[^?]$/, '$&.');
    return failed('42704', name === '' ? 'SHOW needs a name' : `there is no SHOW ${name}`, hint);
  }
  if (show.needsToken && !hasToken) {
    const message = `SHOW ${name} needs a login with the admin token, because it names users and client addresses`;
    return failed('42501', message, 'Set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE), and log in with the token.');
  }
  return rest.length === 0 || !SHOWS.has(name)
    ? { kind: 'show', show }
    : failed('42601', `SHOW ${name} takes nothing behind it`, `Leave out: ${rest.join(' ')}`);
}

/** Drivers read some of the parameters that they were told at the start. */
function parameter(words: readonly string[], parameters: ReadonlyMap<string, string>): Show | undefined {
  const asked = words.join(' ').replace(/^TRANSACTION ISOLATION LEVEL$/, 'TRANSACTION_ISOLATION');
  const found = [...parameters].find(([known]) => known.toUpperCase() === asked);
  if (found === undefined) return undefined;
  const [column, value] = found;
  return showOf('', text<string>({ [column]: (shown) => shown }), () => ({ rows: [value] }));
}

/** There is nothing to commit; psycopg, for one, begins a transaction before each first statement. */
function answerToTransaction([verb = '', next = '']: readonly string[]): StatementAnswer | undefined {
  if (verb === 'BEGIN' || (verb === 'START' && next === 'TRANSACTION')) {
    return { kind: 'done', tag: 'BEGIN', status: 'in_transaction' };
  }
  if (verb === 'COMMIT' || verb === 'END') return { kind: 'done', tag: 'COMMIT', status: 'idle' };
  if (verb === 'ROLLBACK' || verb === 'ABORT') return { kind: 'done', tag: 'ROLLBACK', status: 'idle' };
  if (verb === 'DISCARD' || verb === 'DEALLOCATE') return { kind: 'done', tag: verb };
  return undefined;
}

function answerToSet(name: string): StatementAnswer {
  if (SET_BY_DRIVERS.has(name)) return { kind: 'done', tag: 'SET' };
  return readOnly(
    `SET ${name} is not possible: this console only reads`,
    'change the configuration file, then run pointsman reload',
  );
}

function readOnly(message: string, instead: string): StatementAnswer {
  return failed('25006', message, `${instead}.`);
}

function failed(sqlState: string, message: string, hint: string): StatementAnswer {
  return { kind: 'error', fields: { ...statementError(sqlState, message), hint } };
}

/** The session goes on. */
export function statementError(sqlState: string, message: string): ErrorFields {
  return { severity: 'ERROR', sqlState, message };
}
