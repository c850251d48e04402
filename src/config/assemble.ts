// From the complete file to the frozen Config: the program's names instead of the file's.
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { ClientTls, ProbePolicy } from '../model/policy.ts';
import type { Config } from './config.ts';
import { backendPolicy } from './schema/backend-section.ts';
import { branchesPolicy } from './schema/branches-section.ts';
import { branchesPool, poolPolicy, type CompleteFile } from './schema/defaults.ts';
import { unlessOff } from './schema/values.ts';
import { loginsPolicy } from './schema/logins-section.ts';
import { movesPolicy } from './schema/moves-section.ts';
import { questionsPolicy } from './schema/questions-section.ts';
import { platformPolicy } from './schema/platform-section.ts';
import { kubernetesConfig } from './schema/kubernetes-section.ts';
import type { Origins } from './source/origins.ts';

export function assemble(file: CompleteFile, origins: Origins): Config {
  const { client, backend, hold, shutdown, admin, incidents } = file;
  return deepFreeze({
    cluster: clusterConfig(file.cluster),
    probe: probePolicy(file.probe),
    pools: Object.entries(file.pools).map(([name, pool]) => poolPolicy(name, pool)),
    listeners: file.listeners.map(({ address, pool, ...listener }) => ({
      address,
      pool,
      reusePort: listener.reuse_port,
      unixSocketMode: listener.unix_socket_mode,
      proxyNetworks: listener.proxy_protocol?.from,
    })),
    zone: file.zone,
    client: {
      startupTimeoutMs: client.startup_timeout,
      maxSessions: client.max_sessions,
      maxSessionsPerAddress: unlessOff(client.max_sessions_per_address),
      maxHandshakes: unlessOff(client.max_handshakes),
      maxDisconnectsPerSecond: client.max_disconnects_per_second,
      tcpKeepalivesIdleMs: unlessOff(client.tcp_keepalives_idle),
      tcpUserTimeoutMs: unlessOff(client.tcp_user_timeout),
      tls: clientTls(client.tls),
    },
    backend: backendPolicy(backend),
    branches: file.branches && { ...branchesPolicy(file.branches), pool: branchesPool() },
    moves: file.moves && movesPolicy(file.moves),
    logins: file.logins && loginsPolicy(file.logins, file.moves),
    questions: file.questions && questionsPolicy(file.questions),
    relay: file.relay,
    hold: {
      clientTimeoutMs: hold.client_timeout,
      maxSessions: hold.max_sessions,
      outageTimeoutMs: hold.outage_timeout,
      maxConnectsPerSecond: hold.max_connects_per_second,
      beforeSwitchoverMs: hold.before_switchover,
    },
    fleet: file.fleet,
    cancelPeers: file.peers,
    workers: file.workers,
    shutdown: { graceMs: shutdown.grace, waitMs: shutdown.wait, drainTimeoutMs: shutdown.drain_timeout },
    admin: {
      address: admin.address,
      allowedHosts: admin.allowed_hosts,
      token: admin.token,
      tokenFile: admin.token_file,
      console: admin.console.address,
    },
    incidents: { directory: incidents.directory, maxBytes: incidents.max_size, keep: incidents.keep },
    platform: file.platform && platformPolicy(file.platform),
    log: file.log,
    file,
    origins,
  });
}

function clusterConfig({ kubernetes, api: { tls, auth }, ...cluster }: CompleteFile['cluster']): ClusterConfig {
  return {
    ...cluster,
    kubernetes: kubernetes && kubernetesConfig(kubernetes, cluster.scope),
    api: {
      tls,
      auth: auth && { username: auth.username, password: auth.password, passwordFile: auth.password_file },
    },
  };
}

function clientTls({ mode, cert, key }: CompleteFile['client']['tls']): ClientTls {
  if (mode === 'passthrough') return { mode };
  if (cert === undefined || key === undefined) throw new Error(`client.tls: ${mode} without cert and key`);
  return { mode, cert, key };
}

function probePolicy(probe: CompleteFile['probe']): ProbePolicy {
  return {
    intervalMs: probe.interval,
    timeoutMs: probe.timeout,
    urgent: { intervalMs: probe.urgent.interval, forMs: probe.urgent.for },
    rise: probe.rise,
    fall: probe.fall,
    writeMaxAgeMs: probe.write_max_age,
    readMaxAgeMs: probe.read_max_age,
    silenceGraceMs: probe.silence_grace,
    silentProbes: unlessOff(probe.silent_probes),
    vouching: probe.vouching,
  };
}

/** Freezes maps and lists all the way down. A Map inside (a check's tags) keeps only its read-only type. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}
