// Counters and histograms that grow with each event. Label values are bounded: pools of the configuration, closed
// lists, and members, whose series are removed when they leave the cluster. A new metric of an event is a row here;
// deploy/metrics.md lists all.
import { LOGIN_RESULTS, LOGIN_WAYS } from '../model/logins.ts';
import { CLOSE_REASONS } from '../model/close-reason.ts';
import { TLS_FAULTS } from '../model/tls-fault.ts';
import { HOLD_OUTCOMES, type CancelKeyKnowledge } from '../reports/events.ts';
import { OPERATION_OUTCOMES } from '../reports/operation-events.ts';
import { REFUSAL_LABELS, refusalLabel } from '../core/refusal-words.ts';
import { REFUSAL_KINDS, type Acceptance } from '../core/snapshot.ts';
import { ofEvents, type EventMetric } from './event-totals.ts';
import { flag } from './scrape.ts';

const CANCEL_KEYS: readonly CancelKeyKnowledge[] = ['known', 'peer', 'unknown'];
const ACCEPTED_BY: readonly Acceptance['by'][] = ['agreement', 'operator'];
const NETWORK_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.8, 1, 3];
const HOLD_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const SESSION_BUCKETS = [0.01, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600];
const OPERATION_BUCKETS = [1, 2.5, 5, 7.5, 10, 15, 20, 30, 60];

export const EVENT_METRICS: readonly EventMetric[] = [
  ofEvents(
    'pointsman_sessions_closed_total',
    'Client connections closed, by reason.',
    ['pool', 'reason'],
    { session_closed: ({ pool, reason }) => [[{ pool, reason }, 1]] },
    { initial: (pool) => Object.keys(CLOSE_REASONS).map((reason) => [{ pool, reason }, 0]) },
  ),
  ofEvents(
    'pointsman_session_duration_seconds',
    'Lifetime of client connections, from accept to close.',
    ['pool'],
    { session_closed: ({ pool, durationMs }) => [[{ pool }, durationMs]] },
    { buckets: SESSION_BUCKETS, initial: (pool) => [[{ pool }, 0]] },
  ),
  ofEvents(
    'pointsman_holds_ended_total',
    'Clients that waited for an eligible member, by outcome.',
    ['pool', 'outcome'],
    { hold_ended: ({ pool, outcome }) => [[{ pool, outcome }, 1]] },
    { initial: (pool) => HOLD_OUTCOMES.map((outcome) => [{ pool, outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_hold_duration_seconds',
    'Time that clients waited for an eligible member, whatever the outcome.',
    ['pool'],
    { hold_ended: ({ pool, waitedMs }) => [[{ pool }, waitedMs]] },
    { buckets: HOLD_BUCKETS, initial: (pool) => [[{ pool }, 0]] },
  ),
  ofEvents(
    'pointsman_cancels_forwarded_total',
    'Cancel requests forwarded: known keys to the member of the session or to a peer, unknown ones to all members.',
    ['pool', 'key'],
    { cancel_forwarded: ({ pool, key }) => [[{ pool, key }, 1]] },
    { initial: (pool) => CANCEL_KEYS.map((key) => [{ pool, key }, 0]) },
  ),
  ofEvents(
    'pointsman_listener_failures_total',
    'Errors of listening sockets.',
    ['pool'],
    { listener_failed: ({ pool }) => [[{ pool }, 1]] },
    { initial: (pool) => [[{ pool }, 0]] },
  ),
  ofEvents(
    'pointsman_pool_route_changes_total',
    'Changes of the route of a pool: other members, hold, or closed.',
    ['pool'],
    { route_changed: ({ pool }) => [[{ pool }, 1]] },
    { initial: (pool) => [[{ pool }, 0]] },
  ),
  ofEvents(
    'pointsman_backend_refused_total',
    'Logins that a member refused, by SQLSTATE (none: it closed without an error). Some were served elsewhere.',
    ['member', 'sqlstate'],
    { login_refused: ({ member, sqlState }) => [[{ member, sqlstate: refusalLabel(sqlState) }, 1]] },
    { initial: (member) => REFUSAL_LABELS.map((sqlstate) => [{ member, sqlstate }, 0]) },
  ),
  ofEvents(
    'pointsman_member_tls_failures_total',
    'Connections to a member that got no TLS session (backend.tls), by reason.',
    ['member', 'reason'],
    { member_tls_failed: ({ member, reason }) => [[{ member, reason }, 1]] },
    { initial: (member) => TLS_FAULTS.map((reason) => [{ member, reason }, 0]) },
  ),
  ofEvents(
    'pointsman_logins_total',
    'Logins that Pointsman took part in, or read: TLS is on the side of the server, or logins is configured.',
    ['way', 'result'],
    { login_ended: ({ way, result }) => [[{ way, result }, 1]] },
    { initial: () => LOGIN_WAYS.flatMap((way) => LOGIN_RESULTS.map((result) => [{ way, result }, 0])) },
  ),
  ofEvents(
    'pointsman_probes_total',
    'Health probes of a member, by outcome: yes and no are answers, other values are failures.',
    ['member', 'outcome'],
    { probe_finished: ({ member, outcome }) => [[{ member, outcome }, 1]] },
  ),
  ofEvents(
    'pointsman_probe_duration_seconds',
    'Duration of health probes of a member, answered or not.',
    ['member'],
    { probe_finished: ({ member, durationMs }) => [[{ member }, durationMs]] },
    { buckets: NETWORK_BUCKETS },
  ),
  ofEvents(
    'pointsman_dials_total',
    'TCP connects to the PostgreSQL port of a member for a client, by outcome (outraced: another was faster).',
    ['member', 'outcome'],
    { dial_finished: ({ member, outcome }) => [[{ member, outcome }, 1]] },
  ),
  ofEvents(
    'pointsman_dial_duration_seconds',
    'Duration of TCP connects to the PostgreSQL port of a member, successful or not.',
    ['member'],
    { dial_finished: ({ member, durationMs }) => [[{ member }, durationMs]] },
    { buckets: NETWORK_BUCKETS },
  ),
  ofEvents(
    'pointsman_discoveries_total',
    'Reads of the member list, by outcome.',
    ['outcome'],
    { discovery_finished: ({ detail }) => [[{ outcome: detail === undefined ? 'found' : 'failed' }, 1]] },
    { initial: () => ['found', 'failed'].map((outcome) => [{ outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_refreshes_total',
    'Requests to probe all members now (merged: within a second of another one).',
    ['outcome'],
    { refresh_requested: ({ isMerged }) => [[{ outcome: isMerged ? 'merged' : 'probed' }, 1]] },
    { initial: () => ['probed', 'merged'].map((outcome) => [{ outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_primary_acceptances_total',
    'Refused primaries that were accepted, by reason of the refusal and by the side that accepted.',
    ['reason', 'by'],
    { primary_accepted: ({ refusal, by }) => [[{ reason: refusal, by }, 1]] },
    { initial: () => REFUSAL_KINDS.flatMap((reason) => ACCEPTED_BY.map((by) => [{ reason, by }, 0] as const)) },
  ),
  ofEvents(
    'pointsman_discovery_duration_seconds',
    'Duration of a read of the member list, all sources included.',
    [],
    { discovery_finished: ({ durationMs }) => [[{}, durationMs]] },
    { buckets: [...NETWORK_BUCKETS, 10] },
  ),
  ofEvents('pointsman_relay_direct', '1 while sessions use the direct relay, 0 while they use Node streams.', [], {
    relay_chosen: ({ isOn }) => [[{}, flag(isOn)]],
  }),
  ofEvents('pointsman_urgent_probing', '1 while all members are probed at the urgent interval.', [], {
    urgent_probing: ({ on }) => [[{}, flag(on)]],
  }),
  ofEvents(
    'pointsman_config_reloads_total',
    'Configuration reloads, by outcome (failed: nothing changed).',
    ['outcome'],
    {
      config_reloaded: () => [[{ outcome: 'applied' }, 1]],
      config_reload_failed: () => [[{ outcome: 'failed' }, 1]],
    },
    { initial: () => ['applied', 'failed'].map((outcome) => [{ outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_config_last_reload_successful',
    '1 if the last configuration reload succeeded, 0 if it failed.',
    [],
    { config_reloaded: () => [[{}, 1]], config_reload_failed: () => [[{}, 0]] },
    { initial: () => [[{}, 1]] },
  ),
  ofEvents(
    'pointsman_operations_total',
    'Operations that ended, by outcome.',
    ['kind', 'outcome'],
    { operation_ended: ({ what, outcome }) => [[{ kind: what, outcome }, 1]] },
    { initial: () => OPERATION_OUTCOMES.map((outcome) => [{ kind: 'switchover', outcome }, 0]) },
  ),
  ofEvents(
    'pointsman_operation_duration_seconds',
    'Duration of operations, whatever the outcome.',
    ['kind'],
    { operation_ended: ({ what, durationMs }) => [[{ kind: what }, durationMs]] },
    { buckets: OPERATION_BUCKETS, initial: () => [[{ kind: 'switchover' }, 0]] },
  ),
];
