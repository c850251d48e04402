// Reads the dynamic configuration into the settings that the managers decide by. The defaults for absent and unusable
// keys are here only. Unknown keys are kept and ignored.
import type { ClusterSettings, JsonObject, JsonValue, MemberKnowledge } from './view.ts';

const DEFAULT = { ttl: 5, loop_wait: 1, retry_timeout: 2, maximum_lag_on_failover: 1_048_576 } as const;

export const DEFAULT_CONFIG: JsonObject = {
  ...DEFAULT,
  postgresql: { use_pg_rewind: false, parameters: { max_connections: '100' } },
};

export function readSettings(config: JsonObject): ClusterSettings {
  const postgresql = asObject(config['postgresql']);
  return {
    ...readTimes(config),
    maximumLagOnFailover: number(config['maximum_lag_on_failover'], DEFAULT.maximum_lag_on_failover),
    isPaused: asBoolean(config['pause']) ?? false,
    isFailsafeMode: asBoolean(config['failsafe_mode']) ?? false,
    synchronousMode: synchronousMode(config['synchronous_mode']),
    standbyCluster: standbyCluster(config['standby_cluster']),
    parameters: readParameters(postgresql['parameters']),
  };
}

/** As the member last read them; the defaults before that. */
export function settingsOf({ cluster }: Pick<MemberKnowledge, 'cluster'>): ClusterSettings {
  return readSettings(cluster?.config ?? {});
}

/**
 * The lock must not expire between two heartbeats, nor before its holder has demoted itself. Patroni's rule is
 * `loop_wait + 2 * retry_timeout <= ttl`, and it lowers the values when the configuration breaks it.
 */
function readTimes(config: JsonObject): Pick<ClusterSettings, 'ttlMs' | 'loopWaitMs' | 'retryTimeoutMs'> {
  const ttlMs = seconds(config['ttl'], DEFAULT.ttl);
  const retryTimeoutMs = Math.min(seconds(config['retry_timeout'], DEFAULT.retry_timeout), 0.4 * ttlMs);
  const loopWaitMs = Math.min(seconds(config['loop_wait'], DEFAULT.loop_wait), ttlMs - 2 * retryTimeoutMs);
  return { ttlMs, loopWaitMs, retryTimeoutMs };
}

/** As PostgreSQL's configuration file writes them. Values that are not scalars are left out. */
export function readParameters(value: JsonValue | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(asObject(value)).flatMap(([name, given]) => {
    const text = parameterText(given);
    return text === undefined ? [] : [[name.toLowerCase(), text] as const];
  });
  return Object.fromEntries(entries);
}

function parameterText(value: JsonValue): string | undefined {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function number(value: JsonValue | undefined, otherwise: number): number {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof read === 'number' && Number.isFinite(read) ? read : otherwise;
}

function seconds(value: JsonValue | undefined, otherwise: number): number {
  return number(value, otherwise) * 1000;
}

/** YAML and PostgreSQL both accept on, yes and true. */
export function asBoolean(value: JsonValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (['on', 'true', 'yes', '1'].includes(word)) return true;
  return ['off', 'false', 'no', '0'].includes(word) ? false : undefined;
}

function synchronousMode(value: JsonValue | undefined): ClusterSettings['synchronousMode'] {
  if (typeof value === 'string' && value.toLowerCase() === 'quorum') return 'quorum';
  return asBoolean(value) === true ? 'on' : 'off';
}

function standbyCluster(value: JsonValue | undefined): ClusterSettings['standbyCluster'] {
  if (!isObject(value)) return undefined;
  const port = number(value['port'], Number.NaN);
  return {
    ...(typeof value['host'] === 'string' ? { host: value['host'] } : {}),
    ...(Number.isInteger(port) ? { port } : {}),
  };
}
