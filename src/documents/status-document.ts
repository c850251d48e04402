// The answer of GET /status: its fields with their meaning and units. Ages are seconds; null means unknown.
import { READ_SCOPES } from '../model/causal-reads.ts';
import { z } from 'zod';
import { OPERATION_CAUSES } from '../model/close-reason.ts';
import { REFUSAL_REASONS } from '../model/member.ts';
import { LEAVE_MODES } from '../model/policy.ts';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import { branchList } from './branches-document.ts';
import { byName, count, list, seconds, time } from './document-parts.ts';
import { recentEvent } from './events-document.ts';
import { memberStatus, standing } from './member-document.ts';

const member = z.string();
const poolName = z.string();

const refusedPrimary = z.strictObject({
  member,
  refused_for: z.enum(REFUSAL_KINDS),
  shown: z.string().describe('Reported now: timeline 5'),
  expected: z.string().describe('Seen before: timeline 6'),
  why: z.string(),
  for_seconds: seconds.describe('Since its first such answer.'),
  ends_by: list(z.string()).describe('Each entry ends the refusal.'),
});

const acceptedPrimary = z.strictObject({
  member,
  refused_for: z.enum(REFUSAL_KINDS),
  with: z.string().describe('timeline 5 instead of timeline 6'),
  by: z.enum(['agreement', 'operator']),
  seconds_ago: seconds,
});

const contactSource = z.strictObject({
  source: z.string(),
  contact_points: list(z.string()),
  failing: z
    .strictObject({ for_seconds: seconds.exactOptional(), why: z.string() })
    .exactOptional()
    .describe('Present while it fails. Without for_seconds: it has never succeeded.'),
});

const lastInterruption = z.strictObject({
  pool: poolName,
  from: time.describe('When the decision took the route away.'),
  to: time.nullable().describe('When the decision gave it back. Null: it lasts.'),
  seconds: seconds.describe('So far, if it lasts.'),
  incident_id: z.string().nullable().describe('Null: no incident is known.'),
  text: z.string().describe('One sentence.'),
});

const cluster = z.strictObject({
  scope: z.string().nullable(),
  system_identifier: z.string().nullable(),
  timeline: z.number().nullable().describe('The highest on which a member was ever confirmed as primary.'),
  primary: z
    .strictObject({ member, since: time, timeline: z.number().nullable() })
    .nullable()
    .describe(
      'The member that serves every pool for writes, and since when it is the primary, as seen here. Null: none now.',
    ),
  last_interruption: lastInterruption
    .nullable()
    .describe('The newest time without a route for writes. Null: none since the start.'),
  first_round_complete: z.boolean().describe('True after the first round of probes is complete.'),
  drained: list(member).describe('By the operator, currently unknown members included. Lost when this process ends.'),
  handover: z
    .strictObject({
      operation: z.enum(OPERATION_CAUSES),
      member,
      phase: z.enum(['hold', 'drain']),
      for_seconds: seconds,
    })
    .exactOptional()
    .describe('The member whose sessions an operation from here takes away. Absent: there is none.'),
  scheduled_switchover: z
    .strictObject({ in_seconds: seconds, from: member })
    .nullable()
    .describe('From the newest member list.'),
  refused_primaries: list(refusedPrimary)
    .exactOptional()
    .describe('Members that claim to be primary and are refused, while no other primary is known. Absent: none.'),
  accepted_primary: acceptedPrimary
    .exactOptional()
    .describe('The last refused primary that was accepted. Absent if there was none.'),
  contact_sources: list(contactSource)
    .exactOptional()
    .describe('Names and directories that contact points come from, with their last result. Absent: none.'),
});

const refusedMember = z.strictObject({
  name: member,
  reason: z.enum(REFUSAL_REASONS),
  why: z.string().describe('One sentence. Names the setting that would allow the member, if there is one.'),
});

const target = z.strictObject({
  name: member,
  address: z.string(),
  weight: z.number().exactOptional().describe('Relative share of new sessions, from its tag. Absent: 1.'),
  far: z.literal(true).exactOptional().describe('Present if it is in another zone.'),
});

const degradation = { max_sessions: count, for_seconds: seconds.exactOptional() };

const route = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('open'),
    members: list(target),
    fallback: z
      .strictObject({ pool: poolName, ...degradation })
      .nullable()
      .describe('The pool that the members are borrowed from; null: own members.'),
    lagging: z
      .strictObject(degradation)
      .exactOptional()
      .describe('Present while every member is over the lag limit and these are used.'),
  }),
  /** `planned`: an operator wants clients to wait. */
  z.strictObject({ kind: z.literal('hold'), cause: z.string(), planned: z.literal(true).exactOptional() }),
  z.strictObject({ kind: z.literal('closed') }),
]);

/** The logins of one pool that a member has refused lately. */
const refusedLogins = z.strictObject({
  sqlstate: z.string().nullable().describe('The code of the newest. Null: the member closed without an error.'),
  text: z.string().describe('53300, too many connections'),
  count,
  for_seconds: seconds.describe('Since the first.'),
  last_seconds: seconds.describe('Since the newest.'),
});

const latency = z.strictObject({
  request_seconds: z
    .number()
    .nullable()
    .describe(
      'From a request to the first byte of its reply: a geometric mean of the newest. Null: none was observed.',
    ),
  login_seconds: z
    .number()
    .nullable()
    .describe("From the connect to the first byte of the server's answer to the login, the same mean."),
  share: z.number().describe('The part of its weight that the member has for new sessions.'),
  last_seconds: seconds.nullable().describe('Since the newest observation. Null: there is none.'),
  summary: z.string().describe('All of this in one sentence, as explain, the console and the page show it.'),
});

const sessions = z.strictObject({
  by_state: z.strictObject({
    startup: count,
    holding: count,
    dialing: count,
    relaying: count,
    parked: count.exactOptional().describe('Their clients wait for the next server. Absent: none.'),
    moving: count.exactOptional().describe('They are logged in again at their next server. Absent: none.'),
    closing: count,
  }),
  by_member: byName(count),
  by_fallback: count,
  slow_start: byName(z.number())
    .exactOptional()
    .describe('Members in slow start, with the current fraction of their weight.'),
  latency: byName(latency)
    .exactOptional()
    .describe('With `balance: latency`: the members that take new sessions, as observed here.'),
  refused_logins: byName(refusedLogins)
    .exactOptional()
    .describe(
      'Members that have refused logins of this pool within the last minute, clients served elsewhere included.',
    ),
  longest_wait_seconds: seconds
    .exactOptional()
    .describe('The longest wait so far of a client in state holding. Absent: none waits.'),
  accepted: count.describe('Since the start.'),
  closed: count.describe('Since the start.'),
  to_backend_bytes: count,
  to_client_bytes: count,
});

const readResults = z.strictObject({
  free: count.describe('Nothing was asked: the session is at the primary.'),
  at_once: count.describe('The first answers were enough.'),
  waited: count.describe('They waited until their server had replayed.'),
  moved: count.describe('Late: their sessions moved to a member that shows all.'),
  error: count.describe('Late: refused.'),
  stale: count.describe('Late: they ran all the same.'),
  cancelled: count.describe('By their clients.'),
});

const causalReads = z.strictObject({
  scope: z
    .enum(READ_SCOPES)
    .nullable()
    .describe('Whose acknowledged writes reads see (`causal_reads.scope`). Null: a reload has switched them off.'),
  waiting: count.describe('Reads that wait now.'),
  results: readResults.describe('Since the start.'),
  last_minute: z.strictObject({
    results: readResults,
    late: count.describe('moved, error and stale together.'),
    late_on: byName(count).describe('The late ones by the member that was late.'),
    mean_wait_seconds: seconds.nullable().describe('The free ones left out. Null: there was no other.'),
    longest_wait_seconds: seconds,
  }),
});

export const poolStatus = z.strictObject({
  name: poolName,
  listeners: list(z.string())
    .exactOptional()
    .describe('The addresses whose clients come here, as configured. Absent: clients come by request alone.'),
  check: z.string(),
  exclusive: z.boolean(),
  route,
  route_since: time.describe('When the decision made this route; before the first one, the start.'),
  why: z.string().describe('The sentence of the log.'),
  on_drain: z
    .enum(LEAVE_MODES)
    .describe('What happens to the sessions of a member that the operator drains: on_leave.operator.'),
  sessions: sessions.nullable(),
  causal_reads: causalReads
    .exactOptional()
    .describe('Transactions that wait until their server shows all. Absent: no session of the pool did so far.'),
});

const branches = z.strictObject({
  ...branchList,
  branches: count.describe('In the list. GET /branches has each of them.'),
  sessions: sessions.nullable(),
});

const worker = z.strictObject({
  worker: count.describe('Its number; a replacement keeps it.'),
  pid: z.number().nullable().describe('Null while the worker is being replaced.'),
  ready: z.boolean().describe('It accepts clients.'),
  uptime_seconds: seconds.nullable(),
  restarts: count,
  sessions: count,
  cpu_seconds: seconds,
  resident_memory_bytes: count,
});

const limits = z.strictObject({
  max_sessions: count.describe('Over all workers: client.max_sessions, or fewer for lack of file descriptors.'),
  max_sessions_per_address: count.nullable().describe('Null: no limit of its own.'),
  max_handshakes: count.nullable().describe('Null: no limit of its own.'),
  max_waiting_clients: count,
  client_wait_seconds: seconds.describe('The longest wait of one client: hold.client_timeout.'),
  park_seconds: seconds
    .nullable()
    .describe('The longest wait of a parked session: moves.park_timeout. Null: no session moves.'),
  outage_seconds: seconds.describe('A pool without a route for so long refuses its clients: hold.outage_timeout.'),
  max_connects_per_second: count.describe('Connects of waiting clients, when a route opens.'),
});

export const configurationStatus = z.strictObject({
  source: z.string().describe('The file, or environment.'),
  hash: z.string().describe('The values in effect, secrets left out. Equal configurations have equal hashes.'),
  loaded_at: time.describe('At the start, or by the last reload that succeeded.'),
});

const openFiles = z.strictObject({
  limit: count,
  in_use: count,
  most_sessions: count.describe('Over all workers: client.max_sessions, or fewer if the limit requires it.'),
});

const notice = z.strictObject({
  level: z.enum(['danger', 'warning']),
  about: z.string().describe('In one to three words: paused'),
  text: z.string().describe('One sentence or two.'),
  pool: z.string().exactOptional().describe('Absent: it is about the cluster, or about this Pointsman.'),
  command: z.string().exactOptional().describe('The command that shows more, or that ends it. Absent: none.'),
});

export const statusDocument = z.strictObject({
  version: z.string(),
  time: time.describe('The time of this answer.'),
  started_at: time,
  uptime_seconds: seconds,
  ready: z.boolean(),
  not_ready_because: z.string().exactOptional().describe('Absent when ready.'),
  config: configurationStatus,
  notices: list(notice).describe('All that needs attention, the worst first. Empty: nothing does.'),
  cluster,
  members: list(memberStatus),
  refused_members: list(refusedMember).describe(
    'Members of the newest /cluster document that are not used, and contact points that cannot be used.',
  ),
  pools: list(poolStatus),
  branches: branches
    .exactOptional()
    .describe('The list of branches, and the sessions on them. Absent: none are configured.'),
  limits,
  open_files: openFiles.exactOptional().describe('For this process. Absent: the system does not report them.'),
  workers: list(worker).exactOptional().describe('Absent if one process does everything.'),
  recent_events: list(recentEvent).describe('The last 20, without those of sessions. GET /events has more.'),
});

/** The part of the status that is about one pool. */
export const poolDocument = z.strictObject({
  time,
  pool: poolStatus,
  members: list(
    z.strictObject({
      name: member,
      role: z.string().nullable(),
      lag_bytes: z.number().nullable(),
      staleness_seconds: seconds.nullable(),
      ...standing.shape,
    }),
  ),
  refused_members: list(refusedMember),
});

export type StatusDocument = z.infer<typeof statusDocument>;
export type PoolStatusDocument = z.infer<typeof poolStatus>;
export type CausalReadsDocument = z.infer<typeof causalReads>;
export type PoolDocument = z.infer<typeof poolDocument>;
export type NoticeDocument = z.infer<typeof notice>;
export type RouteDocument = z.infer<typeof route>;
export type PoolSessionsDocument = z.infer<typeof sessions>;
export type WorkerDocument = z.infer<typeof worker>;
