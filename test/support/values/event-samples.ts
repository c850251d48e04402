// One sample or more of every event, with its meaning: the source of deploy/log-events.md, and of the labels in
// deploy/metrics.md.
import { BRANCH_SAMPLES, branch } from './branch-samples.ts';
import { MOVE_SAMPLES } from './move-samples.ts';
import { POSITION_SAMPLES } from './position-samples.ts';
import { TLS_FAULTS } from '../../../src/model/tls-fault.ts';
import type { EventKind, EventOf } from '../../../src/reports/events.ts';

export type EventSamples = {
  readonly [Kind in EventKind]: { readonly meaning: string; readonly samples: readonly EventOf<Kind>[] };
};

const target = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
const open = { kind: 'open', targets: [target], fallback: undefined } as const;
const hold = { kind: 'hold', cause: 'no_member' } as const;
const eligible = { kind: 'open', why: { code: 'positive' } } as const;
const kept = { kind: 'keep', why: { code: 'no_answer', detail: 'no answer within 800 ms' } } as const;
const client = { pool: 'write', session: 7, client: '10.1.1.1:5000' } as const;
const via = '10.0.0.2:40512';
const login = { user: 'app', database: 'shop', application: 'billing', tls: 'none' } as const;
const closed = {
  kind: 'session_closed',
  ...client,
  member: 'pg-1',
  reason: 'client_closed',
  detail: 'why',
  durationMs: 1500,
  toBackendBytes: 1,
  toClientBytes: 2,
  ...login,
} as const;
const operation = {
  kind: 'operation_ended',
  operation: 'k3x9',
  what: 'switchover',
  why: 'pg-2 is the primary',
  durationMs: 9000,
  phase: 'confirm',
  from: 'pg-1',
  primary: 'pg-2',
  held: 12,
  ended: 100,
  cut: 1,
  moved: 0,
} as const;
const outage = {
  kind: 'outage_summary',
  pool: 'write',
  incident: '2026-11-22-1',
  isFinal: false,
  planned: 'unplanned',
  interruptions: 1,
  durationMs: 3900,
  held: 17,
  longestHoldMs: 3900,
  refusedClients: 0,
  closedSessions: 2,
  text: 'pool write: no route for 3.9 s',
} as const;
const dial = { kind: 'dial_finished', pool: 'write', session: 7, member: 'pg-1', durationMs: 3 } as const;
const discovery = { kind: 'discovery_finished', source: 'http://pg1:8008', members: 3, durationMs: 5 } as const;
const probe = { kind: 'probe_finished', member: 'pg-1', check: '/primary', durationMs: 2 } as const;
const source = { source: 'http://pg:8008', contactPoints: ['10.0.0.1:8008'] } as const;
const standing = { kind: 'standing_changed', pool: 'write', member: 'pg-1', text: 'why' } as const;

export const EVENT_SAMPLES: EventSamples = {
  client_accepted: {
    meaning: 'A client connected. `pool` is the pool of the listener.',
    samples: [
      { kind: 'client_accepted', ...client },
      { kind: 'client_accepted', ...client, via },
    ],
  },
  hold_started: {
    meaning: 'A client waits for an eligible member.',
    samples: [{ kind: 'hold_started', pool: 'write', session: 7, cause: 'no_member' }],
  },
  hold_ended: {
    meaning:
      'The wait of a client ended. `outcome`: `released`, `timeout`, `gave_up` or `refused` (also with its worker).',
    samples: [{ kind: 'hold_ended', pool: 'write', session: 7, outcome: 'released', waitedMs: 10 }],
  },
  dial_finished: {
    meaning: 'A TCP connect to a member ended. `outraced`: another member was faster.',
    samples: (['connected', 'refused', 'outraced'] as const).map((outcome) => ({ ...dial, outcome })),
  },
  login_refused: {
    meaning:
      'A member did not let a client in. No `sql_state`: it closed without an error. `affects_others`: other clients ' +
      'would be refused as well. The client may be served elsewhere, or later.',
    samples: [
      { kind: 'login_refused', pool: 'write', session: 7, member: 'pg-1', sqlState: '53300', affectsOthers: true },
      { kind: 'login_refused', pool: 'write', session: 7, member: 'pg-1', sqlState: '28P01', affectsOthers: false },
      { kind: 'login_refused', pool: 'write', session: 7, member: 'pg-1', sqlState: undefined, affectsOthers: true },
    ],
  },
  login_ended: {
    meaning:
      'A login where TLS is on the side of the server, or `logins` is configured. `way`: `plain` and `shared` go ' +
      'through as they are, `unbound` without an offer to bind, and Pointsman takes part in `verifier`. `relayed`: ' +
      'client and server settle the rest. `why`: there was no verifier for a login that binds.',
    samples: [
      { kind: 'login_ended', pool: 'write', session: 7, way: 'plain', result: 'relayed', role: 'app', why: undefined },
      {
        kind: 'login_ended',
        pool: 'write',
        session: 7,
        way: 'verifier',
        result: 'refused',
        role: 'app',
        why: 'role "app" has no verifier',
      },
    ],
  },
  session_opened: {
    meaning:
      'A session is connected to a member, or to a `branch`. `user`, `database` and `application` are absent where ' +
      'TLS hides them.',
    samples: [
      { kind: 'session_opened', ...client, member: 'pg-1', ...login },
      { kind: 'session_opened', ...client, pool: 'branches', member: undefined, ...login, branch },
      { kind: 'session_opened', ...client, via, member: 'pg-1', ...login },
    ],
  },
  session_closed: {
    meaning:
      'A client connection ended. Reasons: [errors](errors.md). No `member`: the client never reached one, or its ' +
      'target was a `branch`.',
    samples: [
      { ...closed, lingeredMs: 5 },
      { ...closed, member: undefined, branch },
      { ...closed, reason: 'evicted_dead' },
      { ...closed, reason: 'internal_error' },
      { ...closed, via },
    ],
  },
  cancel_forwarded: {
    meaning:
      'A cancel request was forwarded, or answered (no `members`). `key`: `known` here, known to `peer`, or `unknown`.',
    samples: [
      { kind: 'cancel_forwarded', pool: 'write', key: 'known', members: ['pg-1'] },
      { kind: 'cancel_forwarded', pool: 'write', key: 'known', members: [], branch },
      { kind: 'cancel_forwarded', pool: 'write', key: 'peer', members: [], peer: '10.0.0.6:6432' },
    ],
  },
  ...MOVE_SAMPLES,
  relay_chosen: {
    meaning: 'The direct relay is on or off. `why`: the reason against it.',
    samples: [{ kind: 'relay_chosen', isOn: false, why: 'setting' }],
  },
  listener_failed: {
    meaning: 'A listening socket reported an error.',
    samples: [{ kind: 'listener_failed', pool: 'write', detail: 'EMFILE' }],
  },
  unexpected_fault: { meaning: 'A fault of Pointsman itself.', samples: [{ kind: 'unexpected_fault', detail: 'x' }] },
  worker_started: {
    meaning: 'A worker process accepts clients.',
    samples: [{ kind: 'worker_started', worker: 1, pid: 50 }],
  },
  worker_ended: {
    meaning: 'A worker process ended; `sessions` closed with it. No `replaced_in_ms`: it is not replaced.',
    samples: [{ kind: 'worker_ended', worker: 1, pid: 50, why: 'killed by SIGKILL', sessions: 3, replacedInMs: 100 }],
  },
  operation_started: {
    meaning: 'An operation that takes a while was requested.',
    samples: [{ kind: 'operation_started', operation: 'k3x9', what: 'switchover', to: 'pg-2' }],
  },
  operation_phase: {
    meaning: 'A phase of the operation begins; `before` is the phase that ended.',
    samples: [
      { kind: 'operation_phase', operation: 'k3x9', what: 'switchover', phase: 'hold', before: 'check', beforeMs: 9 },
    ],
  },
  operation_ended: {
    meaning: 'The operation ended. `outcome`: `done`, `refused`, `failed`, `cancelled` or `unknown`.',
    samples: (['done', 'failed', 'unknown'] as const).map((outcome) => ({ ...operation, outcome })),
  },
  certificate_loaded: {
    meaning: 'Clients get this TLS certificate from now on.',
    samples: [{ kind: 'certificate_loaded', file: '/tls.crt', expiresAt: 0 }],
  },
  member_tls_verified: {
    meaning:
      'A connection to a member was encrypted (`backend.tls`), and its certificate verified. Above debug only with ' +
      'another certificate, or after a fault.',
    samples: [
      { kind: 'member_tls_verified', member: 'pg-1', expiresAt: 0 },
      { kind: 'member_tls_verified', member: 'pg-1', expiresAt: 0, ownExpiresAt: 0 },
    ],
  },
  member_tls_failed: {
    meaning:
      'A connection to a member could not be encrypted. It was closed, without a byte of a client. Above debug only ' +
      'when the `reason` changes; `pointsman_member_tls_failures_total` counts all.',
    samples: TLS_FAULTS.map((reason) => ({ kind: 'member_tls_failed', member: 'pg-1', reason, why: 'why' })),
  },
  certificate_refused: {
    meaning: 'The changed certificate files cannot be used; the old certificate stays.',
    samples: [{ kind: 'certificate_refused', why: 'expired' }],
  },
  ...POSITION_SAMPLES,
  probe_finished: {
    meaning: 'A health probe ended. `outcome`: `yes`, `no`, or the kind of failure.',
    samples: [
      { ...probe, outcome: 'yes', detail: undefined },
      { ...probe, outcome: 'timeout', detail: 'no answer within 800 ms' },
    ],
  },
  discovery_finished: {
    meaning: 'The member list was read, or not (`detail`). Above debug only when the outcome changes.',
    samples: [
      { ...discovery, detail: undefined },
      { ...discovery, detail: 'connection refused' },
    ],
  },
  members_changed: {
    meaning: 'Members joined or left.',
    samples: [{ kind: 'members_changed', added: ['pg-3'], removed: ['pg-2'] }],
  },
  members_refused: {
    meaning: 'Listed members that are not used, whenever that list changes: `name`, `reason` and `why` of each.',
    samples: [
      { kind: 'members_refused', refused: [{ name: 'pg-3', reason: 'postgres_port', why: 'port 22 is not allowed' }] },
      { kind: 'members_refused', refused: [] },
    ],
  },
  route_changed: {
    meaning: 'The route of a pool changed: `open` to `members`, `hold` (with `cause`) or `closed`.',
    samples: [
      { kind: 'route_changed', pool: 'write', from: hold, to: { ...open, fallback: { pool: 'read', maxSessions: 9 } } },
      { kind: 'route_changed', pool: 'write', from: hold, to: { ...open, lagging: { maxSessions: 9 } } },
      { kind: 'route_changed', pool: 'write', from: hold, to: open },
      { kind: 'route_changed', pool: 'write', from: open, to: hold },
      { kind: 'route_changed', pool: 'write', from: open, to: { kind: 'hold', cause: 'two_primaries' } },
    ],
  },
  standing_changed: {
    meaning:
      'The state of a member in a pool changed: `open` (eligible), `keep` (no new sessions) or `leave` (excluded).',
    samples: [
      { ...standing, from: kept, to: eligible },
      { ...standing, from: eligible, to: kept },
      { ...standing, from: kept, to: { kind: 'leave', cause: 'demoted', why: { code: 'wrong_role' } } },
    ],
  },
  primary_refused: {
    meaning: 'A member claims to be primary and is refused. No other primary is known.',
    samples: [{ kind: 'primary_refused', member: 'pg-1', refusal: 'timeline', text: 'why' }],
  },
  primary_accepted: {
    meaning: 'A refused primary is accepted, by `agreement` of all members or by the `operator`.',
    samples: [{ kind: 'primary_accepted', member: 'pg-1', refusal: 'timeline', by: 'operator', detail: 'timeline 5' }],
  },
  member_drained: {
    meaning: 'The operator drained a member.',
    samples: [{ kind: 'member_drained', member: 'pg-1' }],
  },
  member_resumed: {
    meaning: 'The operator resumed a member.',
    samples: [{ kind: 'member_resumed', member: 'pg-1' }],
  },
  standby_report_stale: {
    meaning: 'A server reports `in_hot_standby` although its API confirms that it is the primary.',
    samples: [{ kind: 'standby_report_stale', member: 'pg-1' }],
  },
  contact_source_changed: {
    meaning: 'A name or directory returned other contact points, or fails (`failing`).',
    samples: [
      { kind: 'contact_source_changed', ...source },
      { kind: 'contact_source_changed', ...source, failing: { why: 'ETIMEOUT', forMs: 2000 } },
    ],
  },
  member_reported: {
    meaning: 'The report that a member gives of itself has changed. `unlocked`: nobody holds the leader lock.',
    samples: [
      {
        kind: 'member_reported',
        member: 'pg-1',
        role: 'primary',
        state: 'stopping',
        timeline: 5,
        isUnlocked: false,
        storeUnseenMs: 800,
      },
      {
        kind: 'member_reported',
        member: 'pg-2',
        role: undefined,
        state: undefined,
        timeline: 5,
        isUnlocked: true,
        storeUnseenMs: undefined,
      },
    ],
  },
  outage_summary: {
    meaning:
      'An outage of a pool is over: the whole story in one line, with the numbers of its incident. `final`: the ' +
      'incident has settled, and a number has changed since the first line.',
    samples: [outage, { ...outage, planned: 'planned' }],
  },
  refresh_requested: {
    meaning: 'Somebody asked for a probe of all members. `merged`: within a second of another request.',
    samples: [
      { kind: 'refresh_requested', isMerged: false },
      { kind: 'refresh_requested', isMerged: true },
    ],
  },
  urgent_probing: {
    meaning: 'Probing at the urgent interval started (`on`) or ended. `triggers`: its causes.',
    samples: [{ kind: 'urgent_probing', on: true, triggers: ['clients_held'] }],
  },
  config_reloaded: {
    meaning: 'The configuration was reloaded. `needs_restart`: changes that were not applied.',
    samples: [
      { kind: 'config_reloaded', changed: ['probe.interval 1s -> 2s'], needsRestart: [] },
      { kind: 'config_reloaded', changed: [], needsRestart: ['log.format auto -> json'] },
    ],
  },
  ...BRANCH_SAMPLES,
  config_reload_failed: {
    meaning: 'The configuration could not be reloaded; nothing changed.',
    samples: [{ kind: 'config_reload_failed', problems: ['p.yaml:1: bad'] }],
  },
};
