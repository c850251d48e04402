// The section `pools`: which members a pool has, which of them gets a new session, and what happens to the sessions of
// a member that leaves. The keys without a default here get theirs in defaults.ts, because they depend on others.
import { z } from 'zod';
import { LATE_MODES, READ_SCOPES, type CausalReadsPolicy } from '../../model/causal-reads.ts';
import type { LeaveCause } from '../../model/close-reason.ts';
import { LEAVE_MODES, type RebalancePolicy } from '../../model/policy.ts';
import { key } from './key.ts';
import { MAX_COUNT, check, choice, count, duration, durationOrOff, flag, name, nonEmpty } from './values.ts';

/** As many as `client.max_disconnects_per_second` ends. */
const MOVES_PER_SECOND = 50;

const mode = choice(LEAVE_MODES).optional();

const onLeave = z.strictObject({
  dead: key(
    z
      .literal('close', { error: 'sessions of a dead member are always closed: write close, or leave it out' })
      .optional(),
    'The API and PostgreSQL of the member refuse connections. Always `close`.',
  ),
  silent: key(mode, 'No answer for `probe.silence_grace`, or `probe.silent_probes` probes without an answer.'),
  demoted: key(mode, 'The primary is no longer primary.'),
  promoted: key(mode, 'The replica became the primary.'),
  lagging: key(mode, 'The replica lags more than the check or `max_staleness` allows.'),
  check_failed: key(mode, 'The replica fails the check for another reason: for `/synchronous` it is not synchronous.'),
  old_timeline: key(mode, "The replica is not on the primary's timeline."),
  tagged_out: key(mode, 'The tags of the member exclude it.'),
  removed: key(mode, 'The member left the cluster.'),
  operator: key(mode, 'An operator drained the member.'),
  fallback_over: key(mode, 'The pool used its fallback and has members of its own again.'),
} satisfies Record<LeaveCause, z.ZodType>);

const fallback = z.union(
  [
    z.literal('none'),
    z.strictObject({
      pool: key(name, 'The other pool.'),
      max_sessions: key(
        count(1, MAX_COUNT).default(100),
        'Sessions by fallback at one time. The next client is refused.',
      ),
    }),
  ],
  { error: 'expected { pool: NAME, max_sessions: 100 }, or none' },
);

const causalReads = z.union(
  [
    flag,
    z.strictObject({
      scope: key(
        choice(READ_SCOPES).default('cluster'),
        `The writes that a read sees. \`cluster\`: all that were acknowledged to anybody; the primary is asked for
        every read. \`proxy\`: those to its database that were acknowledged through this process; the primary is
        asked only behind such writes. Writes through another Pointsman, or past it, are not covered then, and
        \`workers\` must be 1.`,
      ),
      wait: key(duration(1).prefault('500ms'), 'How long a read waits for its replica before it is late.'),
      late: key(
        choice(LATE_MODES).default('primary'),
        `The fate of a late read. \`primary\`: its session moves to a member that shows all, at last the primary;
        one that cannot move gets the error. \`error\`: the statement fails with \`read_late\`, and the session goes
        on. \`stale\`: it runs, and its client gets a notice, at most one in a minute.`,
      ),
    }),
  ],
  { error: 'expected true, false, or { wait: 500ms, late: primary }' },
);

const rebalance = z.union(
  [
    flag,
    z.strictObject({
      per_second: key(
        count(1, MAX_COUNT).default(MOVES_PER_SECOND),
        'Sessions that begin to move in a second, over all workers.',
      ),
    }),
  ],
  { error: `expected true, false, or { per_second: ${MOVES_PER_SECOND} }` },
);

export const pool = z.strictObject({
  check: key(
    check,
    `The health endpoint of the management API, with its parameters. The members that answer it with yes are in the
    pool. Sizes in \`lag=\` are bytes or have a unit: B, kB, MB, GB or TB, powers of 1024. Parameters that an endpoint
    takes: \`lag\`, \`tag_NAME\`, \`replication_state\`, \`mode\` (config/read-scaling.md has the table).`,
    {
      usual: '`/primary` for `write`, `/replica?lag=16MB` for `read`',
      example: '/replica?lag=1GB&tag_purpose=reports',
    },
  ),
  exclusive: key(
    flag.optional(),
    `True: the pool has at most one member at any instant, and evidence is checked more strictly. It follows from the
    check; write it only to be explicit.`,
    { usual: '`true` with the checks `/primary`, `/leader` and `/standby-leader`, else `false`' },
  ),
  balance: key(
    choice(['least_sessions', 'latency', 'round_robin', 'random', 'client_address']).default('least_sessions'),
    `Which member gets the next session. \`latency\`: of two that are drawn, the one with fewer sessions for its weight,
    where a member that answers twice as slowly as the fastest has a quarter of its weight. Switched on by a reload, it
    measures sessions that begin after it. \`client_address\`: all sessions of one client address go to the same member
    while the same members are open (parallel pg_dump, cancel requests inside TLS); one application host then uses
    one replica.`,
  ),
  weight_tag: key(
    nonEmpty.optional(),
    `The tag (\`tags\` in patroni.yml) that holds a member's weight: 0.001 to 1000000, 1 without the tag. A member with
    weight 2 gets twice the sessions of a member with weight 1.`,
    { example: 'pointsman_weight', usual: 'no weights' },
  ),
  zone_tag: key(
    nonEmpty.optional(),
    `The tag that holds a member's zone. While a member in our own \`zone\` is open, the others get no new sessions.`,
    { example: 'zone', usual: 'no zones' },
  ),
  slow_start: key(
    duration(0).optional(),
    `A member that joins or comes back starts with a small share of new sessions, which grows to its full share within
    this time. 0: the full share at once.`,
    { usual: '`30s`; an exclusive pool has none', example: '1m' },
  ),
  max_session_age: key(
    durationOrOff(1000).optional(),
    `Sessions older than this, give or take a tenth, end between two transactions. So a member that came back gets its
    share even if clients never reconnect by themselves. Sessions in TLS that Pointsman cannot read stay.`,
    { usual: '`off`', example: '1h' },
  ),
  rebalance: key(
    rebalance.optional(),
    `A member that joins or comes back gets its share of the sessions that are open and can move: each goes there
    between two of its transactions, at most one time in 10 minutes. Nobody moves for any other imbalance. Needs the
    section \`moves\`.`,
    { usual: '`true` with the section `moves`, but not with `balance: client_address`', example: '{ per_second: 10 }' },
  ),
  fallback: key(
    fallback.optional(),
    'Where new sessions go while no member answers the check. `none`: nowhere, clients are held or refused.',
    { usual: '`{ pool: write, max_sessions: 100 }` for `read`, else `none`', example: '{ pool: write }' },
  ),
  max_staleness: key(
    durationOrOff(1).optional(),
    `A replica whose data is older than this lags, however few bytes it is behind: it receives nothing, its replay is
    paused, or it replays late. Its age is that of the oldest position of the primary that it has not replayed, so a
    quiet cluster has no stale replica. At least three times \`probe.interval\`.`,
    { usual: '`off`', example: '10s' },
  ),
  when_all_lagging: key(
    choice(['refuse', 'least_lagging', 'fallback']).optional(),
    `Where new sessions go while every replica lags more than the check or \`max_staleness\` allows. \`fallback\`:
    to the fallback. \`refuse\`: clients are refused. \`least_lagging\`: to the replicas that lag least, at most
    \`max_lagging_sessions\` of them.`,
    { usual: '`fallback`; without a fallback clients are refused', example: 'least_lagging' },
  ),
  max_lagging_sessions: key(
    count(1, MAX_COUNT).optional(),
    'With `when_all_lagging: least_lagging`: sessions on lagging replicas at one time.',
    { usual: '`100`', example: '50' },
  ),
  on_leave: key(
    onLeave.prefault({}),
    `How existing sessions end when their member leaves the pool, by cause. \`close\`: they end at once.
    \`drain\`: each ends between two of its transactions, and the rest is closed after \`drain_timeout\`.
    \`drain_idle\`: the same without that deadline. \`keep\`: they stay. \`move\`: each goes on at another member,
    between two of its transactions, and \`moves.on_stays\` is for those that cannot. Sessions in TLS that Pointsman
    cannot read count as busy.`,
  ),
  causal_reads: key(
    causalReads.optional(),
    `Transactions wait until their replica shows every commit that was acknowledged before they arrived. Needs the
    section \`questions\`. \`true\`: with all defaults. Switched on by a reload, it holds for sessions that begin
    after it.`,
    { usual: '`false`: a read may miss a write that was just acknowledged', example: '{ wait: 500ms, late: error }' },
  ),
  drain_timeout: key(duration(0).prefault('30s'), 'How long `drain` waits before it closes the rest.'),
  relocate_after: key(
    duration(0).prefault('3s'),
    `Drains for \`lagging\`, \`check_failed\`, \`old_timeline\` and \`fallback_over\` begin when the cause has
    lasted this long, or when the member has no connection left for a writer. A short change ends no session. Drains
    need another member that is eligible: nothing drains towards a fallback.`,
  ),
});

/** Undefined: open sessions stay. */
export function rebalancePolicy(parsed: z.output<typeof rebalance>): RebalancePolicy | undefined {
  if (parsed === false) return undefined;
  return { perSecond: parsed === true ? MOVES_PER_SECOND : parsed.per_second };
}

export function causalReadsPolicy(parsed: z.output<typeof causalReads> | undefined): CausalReadsPolicy | undefined {
  if (parsed === undefined || parsed === false) return undefined;
  const { scope = 'cluster', wait = 500, late = 'primary' } = parsed === true ? {} : parsed;
  return { scope, waitMs: wait, late };
}
