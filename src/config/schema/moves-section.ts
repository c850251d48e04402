// The section `moves`: which sessions go to another server without their client noticing, and where the verifiers of
// their roles are read.
import { z } from 'zod';
import type { MovesPolicy, VerifierPolicy } from '../../model/moves.ts';
import { key } from './key.ts';
import { MAX_COUNT, choice, count, duration, flag, matching, nonEmpty, size } from './values.ts';

const MOST_LOGINS = 1000;
/** More at a time make no answer come sooner, and a busy server then has none in time. */
const QUESTIONS = 16;
const DATABASE = 'postgres';
/** The function of deploy/moves.md. */
const QUERY = 'SELECT pointsman.verifier($1)';

/** At least two identifiers: `valid_custom_variable_name` in guc.c of PostgreSQL. */
const customSetting = matching(
  'the name of a custom setting such as app.tenant',
  /^[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*(?:\.[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)+$/,
);

export const verifiers = z.strictObject({
  user: key(
    nonEmpty.optional(),
    `The role that asks the server for verifiers. It needs EXECUTE on the function of \`query\` and nothing else.`,
    { example: 'pointsman_lookup' },
  ),
  password_file: key(
    nonEmpty.optional(),
    'A file with the password of `user`, on one line. It is read at each connect.',
    {
      example: '/run/secrets/pointsman-lookup',
      usual: 'no password',
    },
  ),
  database: key(nonEmpty.optional(), 'The database that has the function.', {
    usual: `\`${DATABASE}\``,
    example: 'admin',
  }),
  query: key(
    nonEmpty.optional(),
    `Has one parameter, \`$1\`, for the name of a role, and returns one row with one column: its verifier, or NULL.`,
    { usual: `\`${QUERY}\``, example: 'SELECT phash FROM pgbouncer.user_lookup($1)' },
  ),
  file: key(
    nonEmpty.optional(),
    `A file with a line \`"role" "verifier"\` for each role, as PgBouncer's userlist.txt, instead of \`user\`. It is
    read each time. Plain passwords in it are not used.`,
    { example: '/etc/pointsman/userlist.txt' },
  ),
});

export const moves = z.strictObject({
  mode: key(
    choice(['planned', 'always']).default('planned'),
    `\`planned\`: sessions move while their old server can be asked for their state. \`always\`: also after its loss
    without warning, but only sessions that provably lost nothing.`,
  ),
  roles: key(
    z.array(nonEmpty).min(1, { error: 'is empty, so no session could move: name at least one role' }),
    'The roles whose sessions move, with `*` for any characters. All other sessions end as without this section.',
    { example: '[app, "svc_*"]' },
  ),
  verifiers: key(
    verifiers.optional(),
    `Where Pointsman reads the verifiers of roles that log in with SCRAM. A verifier is read for a batch of moves alone,
    and overwritten at its end.`,
    {
      usual: 'only sessions that log in without a password move',
      example: '{ user: pointsman_lookup, password_file: /run/secrets/pointsman-lookup }',
    },
  ),
  md5: key(
    flag.default(false),
    `True: sessions that log in with md5 move, too. The stored hash of such a role is as good as its password, and
    Pointsman gets it.`,
  ),
  wait: key(
    duration(0).prefault('10s'),
    `How long a planned move waits for running transactions. Sessions that are busy after this time no longer move.`,
  ),
  concurrent: key(
    count(1, MOST_LOGINS).default(8),
    'Logins of moved sessions at one time. Workers divide the number; each has one at least.',
  ),
  per_second: key(
    count(1, MAX_COUNT).default(200),
    'Logins of moved sessions per second. Lower it to protect a new primary.',
  ),
  park_timeout: key(
    duration(1).prefault('30s'),
    `How long a client whose session has left its old server waits for the next one. Then it is told why its session
    ends. The limits of \`hold\` do not apply.`,
  ),
  max_state: key(
    size(1024).prefault('64kB'),
    'A session with more settings and prepared statements than this stays where it is.',
  ),
  settings: key(
    z.array(customSetting).prefault([]),
    `Custom settings that sessions take along, beside those that Pointsman finds in statements and functions.
    PostgreSQL does not list them. A name belongs here that a function puts together while it runs, or that a
    library in C sets. Without such a list, sessions of a database with a function that puts names together stay. A
    session that does so in a statement of its own stays anyway.`,
    { example: '[app.tenant]' },
  ),
  on_stays: key(
    choice(['drain', 'close', 'abort']).default('drain'),
    `How a session ends that cannot move. \`drain\`: between two of its transactions, and after \`drain_timeout\`
    anyway. \`close\`: the same, after \`wait\`. \`abort\`: the same as \`close\`, but a transaction that is open then
    is rolled back, its client reads an error with SQLSTATE 40001, and the session moves. With \`mode: always\` also a
    transaction of a server that is lost, where it is certainly void.`,
  ),
});

export type ParsedMoves = z.output<typeof moves>;

export function movesPolicy(parsed: ParsedMoves): MovesPolicy {
  return {
    mode: parsed.mode,
    roles: parsed.roles,
    verifiers: parsed.verifiers && verifierPolicy(parsed.verifiers),
    md5: parsed.md5,
    waitMs: parsed.wait,
    concurrent: parsed.concurrent,
    perSecond: parsed.per_second,
    questions: QUESTIONS,
    parkTimeoutMs: parsed.park_timeout,
    maxStateBytes: parsed.max_state,
    settings: parsed.settings,
    onStays: parsed.on_stays,
  };
}

export function verifierPolicy(parsed: z.output<typeof verifiers>): VerifierPolicy {
  const { user, file } = parsed;
  if (file !== undefined) return { kind: 'file', file };
  if (user === undefined) throw new Error('verifiers without user and file');
  const { password_file: passwordFile, database = DATABASE, query = QUERY } = parsed;
  return { kind: 'query', user, passwordFile, database, query };
}
