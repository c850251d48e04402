// Where a target is known to answer otherwise than the management API says. The difference itself is tested: a target
// that does as the contract says after all fails too, and its line has to go.
import type { ItemId } from './checklist.ts';
import type { TargetName } from './target.ts';

export interface KnownDifference {
  readonly item: ItemId;
  readonly targets: readonly TargetName[];
  /** In place of the contract's word. */
  readonly instead: unknown;
  readonly reason: string;
  /** The first version of Patroni that keeps the contract in this item. Undefined: none so far. */
  readonly until?: string;
}

type Line = Omit<KnownDifference, 'targets'>;

const BEFORE_4_1 = { reason: 'not there yet', until: '4.1.0' };
const HALF_ROUTED = 'only GET is routed to them; every other method is answered as for an unknown path';
const CODE_FOR_TIMES = 'its code for times that it cannot use';

/** Every version of Patroni up to now, and the sandbox in Patroni's dialect. */
const ANY_PATRONI: readonly Line[] = [
  { item: 'health.head.probes', instead: [503, 503], reason: HALF_ROUTED },
  { item: 'health.options.probes', instead: [503, 503], reason: HALF_ROUTED },
  { item: 'health.body.probes', instead: [false, false], reason: 'they answer with the status line alone' },
  {
    item: 'tag.health-endpoints.probes',
    instead: [
      [200, 200, 200],
      [200, 200, 200],
    ],
    reason: 'they do not look at tags',
  },
  { item: 'node.xlog.replica', instead: 'absent', reason: 'a replica tells what it received and what it replayed' },
  {
    item: 'node.down',
    instead: ['postmaster_start_time', 'server_version', 'timeline', 'xlog'],
    reason: 'what a query tells is absent while none succeeds',
  },
  { item: 'error.400.types', instead: [200, 200, 200], reason: 'it takes whatever it can read as a value' },
  { item: 'error.412.paused', instead: [400, 400], reason: 'checked together with the format of the request' },
  { item: 'error.200.reload', instead: 202, reason: 'the reload happens after the answer' },
  { item: 'error.400.timestamp', instead: [422, 422], reason: CODE_FOR_TIMES },
  { item: 'error.400.past', instead: [422, 422], reason: CODE_FOR_TIMES },
  { item: 'error.412.restart', instead: 503, reason: 'a condition that does not match is a restart that failed' },
  { item: 'error.412.nothing-scheduled', instead: 404, reason: 'nothing found to delete' },
  { item: 'error.412.already-scheduled', instead: 409, reason: 'conflict with the first one' },
  { item: 'error.412.reinitialize', instead: 503, reason: 'a refusal is a failure' },
];

/** Those of old versions, of which Debian 12 has one. */
const OLD_PATRONI: readonly Line[] = [
  { item: 'node.role', instead: 'master', reason: 'its old word', until: '4.0.0' },
  { item: 'cluster.scope', instead: 'absent', reason: 'not there yet', until: '3.2.0' },
  { item: 'cluster.member.state', instead: 'running', reason: '`streaming` is not a word yet', until: '3.0.4' },
  { item: 'cluster.member.receive_lag', instead: 'absent', ...BEFORE_4_1 },
  { item: 'cluster.member.replay_lag', instead: 'absent', ...BEFORE_4_1 },
  { item: 'cluster.member.receive_lsn', instead: 'absent', ...BEFORE_4_1 },
  { item: 'cluster.member.replay_lsn', instead: 'absent', ...BEFORE_4_1 },
  { item: 'cluster.member.lsn', instead: 'absent', ...BEFORE_4_1 },
  { item: 'cluster.member.received-not-replayed', instead: 'absent', ...BEFORE_4_1 },
  {
    item: 'health./read-only-quorum',
    instead: { primary: 200, replica: 200 },
    reason: 'not known yet; a path that contains read-only is /read-only',
    until: '4.0.0',
  },
  {
    item: 'health.quorum.mode-on',
    instead: { leader: [503, 200], first: [503, 200], second: [503, 200] },
    reason: 'quorum commit is not known yet, and taken for synchronous mode',
    until: '4.0.0',
  },
  { item: 'lag./readiness', instead: 200, ...BEFORE_4_1 },
  { item: 'readiness.default-threshold', instead: 200, ...BEFORE_4_1 },
  { item: 'mode.default', instead: 200, ...BEFORE_4_1 },
  { item: 'mode.apply', instead: 200, ...BEFORE_4_1 },
  { item: 'health.readiness.attached', instead: 200, ...BEFORE_4_1 },
  {
    item: 'restart.restart_pending.false',
    instead: { status: 503, restarted: false },
    reason: 'the presence of the key is the condition, whatever its value',
    until: '4.0.0',
  },
  {
    item: 'version.primary.restart',
    instead: { status: 503, restarted: false },
    reason: 'it compares with its own word for the role, which is master',
    until: '4.0.0',
  },
  {
    item: 'version.master.restart',
    instead: { status: 503, restarted: false },
    reason: 'accepted; a replica does not match it',
    until: '4.0.0',
  },
];

const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  ...ANY_PATRONI.map((line) => ({ ...line, targets: ['Patroni', 'sandbox (patroni dialect)'] as const })),
  ...OLD_PATRONI.map((line) => ({ ...line, targets: ['Patroni'] as const })),
];

export function knownDifferences(): readonly KnownDifference[] {
  return KNOWN_DIFFERENCES;
}

/** `version`: of a Patroni. Without it, every line of the target counts. */
export function differencesOf(target: TargetName, version?: string): readonly KnownDifference[] {
  return KNOWN_DIFFERENCES.filter(
    ({ targets, until }) =>
      targets.includes(target) &&
      (version === undefined || until === undefined || version.localeCompare(until, 'en', { numeric: true }) < 0),
  );
}
