// Keys and values of the dynamic configuration that are known to be wrong. Patroni stores them without a word. Pure.
// Sources: the management API, "Dynamic configuration"; P: docs/dynamic_configuration.rst; P: postgresql/config.py,
// CMDLINE_OPTIONS.
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../model/json.ts';
import { closest } from '../../config/closest.ts';
import type { ClusterConfiguration } from '../../documents/cluster-documents.ts';

/** Undefined: the value is right. Else what it must be. */
type Rule = (value: unknown) => string | undefined;

function whole(least: number): Rule {
  return (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= least) return undefined;
    return least === -Infinity ? 'a whole number' : `a whole number from ${least}`;
  };
}

const boolean: Rule = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
/** Patroni reads these words as well. */
const truth: Rule = (value) =>
  typeof value === 'boolean' || /^(?:on|off|true|false|yes|no)$/i.test(String(value)) ? undefined : 'true or false';
const synchronous: Rule = (value) =>
  value === 'quorum' || truth(value) === undefined ? undefined : 'true, false or quorum';
const map: Rule = (value) => (isRecord(value) ? undefined : 'a map of keys and values');
const anything: Rule = () => undefined;
const list: Rule = (value) => (Array.isArray(value) ? undefined : 'a list');

/** Patroni 4.1; it stores other keys at the top, and they have no effect. */
const KEYS: ReadonlyMap<string, Rule> = new Map([
  ['loop_wait', whole(1)],
  ['ttl', whole(1)],
  ['retry_timeout', whole(1)],
  ['maximum_lag_on_failover', whole(0)],
  ['maximum_lag_on_syncnode', whole(-Infinity)],
  ['max_timelines_history', whole(0)],
  ['primary_start_timeout', whole(0)],
  ['primary_stop_timeout', whole(0)],
  ['master_start_timeout', whole(0)],
  ['master_stop_timeout', whole(0)],
  ['synchronous_mode', synchronous],
  ['synchronous_mode_strict', truth],
  ['synchronous_node_count', whole(1)],
  ['failsafe_mode', truth],
  ['postgresql', map],
  ['standby_cluster', map],
  ['slots', map],
  ['ignore_slots', list],
  ['member_slots_ttl', anything],
  ['pause', truth],
  ['check_timeline', truth],
  ['postgresql.use_pg_rewind', boolean],
  ['postgresql.use_slots', truth],
  ['postgresql.parameters', map],
]);
const KNOWN = [...KEYS.keys()].filter((key) => !key.includes('.'));

/** Below these Patroni takes its default instead. */
const LEAST: ReadonlyMap<string, number> = new Map([
  ['max_connections', 25],
  ['max_wal_senders', 3],
  ['max_prepared_transactions', 0],
  ['max_locks_per_transaction', 32],
  ['max_replication_slots', 4],
  ['max_worker_processes', 2],
]);

const PARAMETERS = 'postgresql.parameters.';

/** Patroni's defaults. Seconds. */
const TIMES = { ttl: 30, loop_wait: 10, retry_timeout: 10 } as const;

/** One sentence for each value of the change that is wrong. Values that it leaves as they are do not count. */
export function wrongValues(before: ClusterConfiguration, after: ClusterConfiguration): readonly string[] {
  const old = new Map(values(before));
  const changed = values(after).filter(([key, value]) => !old.has(key) || !isDeepStrictEqual(old.get(key), value));
  const faults = changed.flatMap(([key, value]) => {
    const wanted = wantedOf(key, value);
    return wanted === undefined ? [] : [`${key} must be ${wanted}, not ${JSON.stringify(value)}`];
  });
  return faults.length > 0 ? faults : wrongTimes(before, after);
}

function wantedOf(key: string, value: unknown): string | undefined {
  if (!key.startsWith(PARAMETERS)) return KEYS.get(key)?.(value);
  if (typeof value === 'object') return 'a text, a number or a boolean';
  const least = LEAST.get(key.slice(PARAMETERS.length).toLowerCase());
  const isDigits = typeof value === 'string' && /^\s*\d+\s*$/.test(value);
  return least === undefined ? undefined : whole(least)(isDigits ? Number(value) : value);
}

/** The keys at the top, those of `postgresql`, and its parameters. */
function values(config: ClusterConfiguration): readonly (readonly [string, unknown])[] {
  const { postgresql } = config;
  const inner = isRecord(postgresql) ? postgresql : {};
  const parameters = isRecord(inner['parameters']) ? inner['parameters'] : {};
  return [
    ...Object.entries(config),
    ...Object.entries(inner).map(([key, value]) => [`postgresql.${key}`, value] as const),
    ...Object.entries(parameters).map(([name, value]) => [`${PARAMETERS}${name}`, value] as const),
  ];
}

/** The lock must not end between two heartbeats, nor before its holder has given up. */
function wrongTimes(before: ClusterConfiguration, after: ClusterConfiguration): readonly string[] {
  const [old, now] = [timesOf(before), timesOf(after)];
  const least = now.loop_wait + 2 * now.retry_timeout;
  // An unusable one that was there before makes no sum.
  if (isDeepStrictEqual(old, now) || !(now.ttl < least)) return [];
  const sum = `${now.loop_wait} + 2 x ${now.retry_timeout} = ${least}`;
  return [`ttl must be at least loop_wait + 2 x retry_timeout (${sum}), not ${now.ttl}`];
}

function timesOf(config: ClusterConfiguration): Record<keyof typeof TIMES, number> {
  const of = (key: keyof typeof TIMES): number => Number(config[key] ?? TIMES[key]);
  return { ttl: of('ttl'), loop_wait: of('loop_wait'), retry_timeout: of('retry_timeout') };
}

/** A warning for each key at the top that is new and that Patroni does not know. */
export function unknownKeys(before: ClusterConfiguration, changes: ClusterConfiguration): readonly string[] {
  return Object.keys(changes)
    .filter((key) => changes[key] !== null && !KNOWN.includes(key) && !Object.hasOwn(before, key))
    .map((key) => {
      const meant = closest(key, KNOWN);
      const hint =
        meant === undefined ? `a PostgreSQL parameter is postgresql.parameters.${key}` : `did you mean ${meant}?`;
      return `Patroni knows no key ${key} and would ignore it: ${hint}`;
    });
}
