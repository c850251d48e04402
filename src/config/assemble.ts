// From the parsed file to the frozen Config: names of the program instead of names of the file, and what a pool inherits.
import type { CheckFamily } from '../model/check.ts';
import type { ClientTls, PoolPolicy, ProbePolicy } from '../model/policy.ts';
import type { ApiTls, ClusterConfig, Config } from './config.ts';
import {
  EXCLUSIVE_ON_LEAVE,
  MAX_LAGGING_SESSIONS,
  SHARED_ON_LEAVE,
  SLOW_START_MS,
  maxHandshakes,
} from './schema/defaults.ts';
import { kubernetesConfig } from './schema/kubernetes.ts';
import type { ParsedFile, ParsedPool } from './schema/file-schema.ts';

/** Checks that at most one member of a healthy cluster answers. */
export const ONE_MEMBER_FAMILIES: readonly CheckFamily[] = ['primary', 'leader', 'standby-leader'];

export function assemble(parsed: ParsedFile): Config {
  const { client, backend, hold, shutdown } = parsed;
  return deepFreeze({
    cluster: clusterConfig(parsed.cluster),
    probe: probePolicy(parsed.probe),
    pools: Object.entries(parsed.pools).map(([name, pool]) => poolPolicy(name, pool)),
    listeners: parsed.listeners.map(({ address, pool, reuse_port: reusePort }) => ({ address, pool, reusePort })),
    zone: parsed.zone,
    client: {
      startupTimeoutMs: client.startup_timeout,
      maxSessions: client.max_sessions,
      maxSessionsPerAddress: client.max_sessions_per_address,
      // Written as off it is there, and undefined.
      maxHandshakes: 'max_handshakes' in client ? client.max_handshakes : maxHandshakes(client.max_sessions),
      maxDisconnectsPerSecond: client.max_disconnects_per_second,
      tls: clientTls(client.tls),
    },
    backend: {
      connectTimeoutMs: backend.connect_timeout,
      attemptDelayMs: backend.attempt_delay,
      connectAttempts: backend.connect_attempts,
    },
    relay: parsed.relay,
    hold: {
      clientTimeoutMs: hold.client_timeout,
      maxSessions: hold.max_sessions,
      outageTimeoutMs: hold.outage_timeout,
      maxConnectsPerSecond: hold.max_connects_per_second,
      beforeSwitchoverMs: hold.before_switchover,
    },
    workers: parsed.workers,
    shutdown: { graceMs: shutdown.grace, waitMs: shutdown.wait, drainTimeoutMs: shutdown.drain_timeout },
    admin: {
      address: parsed.admin.address,
      allowedHosts: parsed.admin.allowed_hosts,
      token: parsed.admin.token,
      tokenFile: parsed.admin.token_file,
    },
    log: parsed.log,
  });
}

/** A pool whose check at most one member answers is exclusive unless the file says otherwise. */
export function isExclusive(pool: ParsedPool): boolean {
  return pool.exclusive ?? ONE_MEMBER_FAMILIES.includes(pool.check.family);
}

function clusterConfig(cluster: ParsedFile['cluster']): ClusterConfig {
  const { scope, discovery, seeds, kubernetes, members, allow, api } = cluster;
  const tls: ApiTls | undefined = api.tls && {
    ca: api.tls.ca,
    cert: api.tls.cert,
    key: api.tls.key,
    insecure: api.tls.insecure,
  };
  return {
    scope,
    discovery,
    seeds,
    kubernetes: kubernetes && kubernetesConfig(kubernetes, scope),
    members: members.map((member) => ({ name: member.name, api: member.api, postgres: member.postgres })),
    allow,
    api: { tls },
  };
}

function clientTls({ mode, cert, key }: ParsedFile['client']['tls']): ClientTls {
  if (mode === 'passthrough') return { mode };
  if (cert === undefined || key === undefined) throw new Error(`client.tls: ${mode} without cert and key`);
  return { mode, cert, key };
}

function probePolicy(probe: ParsedFile['probe']): ProbePolicy {
  return {
    intervalMs: probe.interval,
    timeoutMs: probe.timeout,
    urgent: { intervalMs: probe.urgent.interval, forMs: probe.urgent.for },
    rise: probe.rise,
    fall: probe.fall,
    writeMaxAgeMs: probe.write_max_age,
    readMaxAgeMs: probe.read_max_age,
    silenceGraceMs: probe.silence_grace,
    silentProbes: probe.silent_probes,
    vouching: probe.vouching,
  };
}

function poolPolicy(name: string, pool: ParsedPool): PoolPolicy {
  const exclusive = isExclusive(pool);
  const { fallback } = pool;
  const given = Object.entries(pool.on_leave).filter(([, mode]) => mode !== undefined);
  return {
    name,
    check: pool.check,
    exclusive,
    balance: pool.balance,
    weightTag: pool.weight_tag,
    zoneTag: pool.zone_tag,
    maxSessionAgeMs: pool.max_session_age,
    slowStartMs: exclusive ? 0 : (pool.slow_start ?? SLOW_START_MS),
    fallback:
      fallback === undefined || fallback === 'none'
        ? undefined
        : { pool: fallback.pool, maxSessions: fallback.max_sessions },
    whenAllLagging: pool.when_all_lagging ?? 'fallback',
    maxLaggingSessions: pool.max_lagging_sessions ?? MAX_LAGGING_SESSIONS,
    onLeave: { ...(exclusive ? EXCLUSIVE_ON_LEAVE : SHARED_ON_LEAVE), ...Object.fromEntries(given) },
    drainTimeoutMs: pool.drain_timeout,
    relocateAfterMs: pool.relocate_after,
  };
}

/** Freezes maps and lists all the way down. A Map inside (a check's tags) keeps only its read-only type. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}
