// Makes the parts of one proxy and joins them.
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import { Admission } from './accept/admission.ts';
import { Listeners, type ListenersOptions } from './accept/listeners.ts';
import { branchConnector, type BranchRequest } from './branch/branch-route.ts';
import { serverDialer } from './branch/dial-server.ts';
import { Cancels } from './cancel/cancel.ts';
import { BackendConnector } from './connect/connect-backend.ts';
import { DegradedPools } from './connect/degraded.ts';
import { plainDialer } from './connect/dial.ts';
import { HoldQueue } from './connect/hold-queue.ts';
import { ParkedBackends } from './connect/parked-backends.ts';
import { Picker } from './connect/picker.ts';
import { Drains } from './ending/drains.ts';
import { watchLimits } from './ending/session-limits.ts';
import { Keepalives } from './ending/keepalives.ts';
import { TcpTimeouts } from './ending/tcp-timeouts.ts';
import { positionsBy } from './login/own-logins.ts';
import { RoleVerifiers } from './login/role-verifiers.ts';
import { LoadedMover } from './moves/load-mover.ts';
import type { OpenPositions, ProxyDependencies, ProxyOptions, ProxyPolicy } from './options.ts';
import { CausalReads } from './reads/causal-reads.ts';
import { PolicyInForce } from './policy-in-force.ts';
import type { RelayServices } from './relay/relayed.ts';
import { RelayPipes } from './relay/direct/pipes.ts';
import { StallGate } from './relay/stall-gate.ts';
import type { Dial } from './server.ts';
import { SessionRegistry } from './session-registry.ts';
import { isLocal, keepAlive, type ProxySocket } from './socket.ts';
import { ClientStartup, type StartupOutcome } from './startup/client-startup.ts';
import { StartupCounts } from './startup/startup-counts.ts';
import { StartupPackets } from './startup/startup-parameters.ts';
import { BufferedBytes } from './startup/startup-reader.ts';
import { NO_TLS, TlsIdentity } from './startup/tls-certificate.ts';

/** The parts that sessions use. Policies are read when they are needed: a reload applies to the next use. */
export interface ProxyParts
  extends Pick<ProxyDependencies, 'clock' | 'onEvent' | 'table' | 'decideIfDue'>, RelayServices {
  readonly policy: () => ProxyPolicy;
  /** As it is now; as it was last if a reload removed it. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
  /** The process is about to end: no more backend connections. */
  readonly isStopping: () => boolean;
  readonly admission: Admission;
  readonly registry: SessionRegistry;
  readonly newStartup: (client: ProxySocket, awaitsHeader: boolean, outcome: StartupOutcome) => ClientStartup;
  readonly holdQueue: HoldQueue;
  readonly cancels: Cancels;
  readonly connector: BackendConnector;
  readonly connectToBranch: (request: BranchRequest) => void;
  readonly mover: LoadedMover;
  /** For logins. */
  readonly verifiers: RoleVerifiers;
  readonly reads: CausalReads;
  /** Undefined: nobody can ask. */
  readonly positions: ReturnType<OpenPositions> | undefined;
}

/** The parts that are there first. */
interface BaseParts {
  readonly inForce: PolicyInForce;
  readonly identity: TlsIdentity;
  readonly listeners: Listeners;
  readonly startups: StartupCounts;
  readonly picker: Picker;
  readonly degraded: DegradedPools;
  readonly parked: ParkedBackends;
  readonly drains: Drains;
  readonly pipes: RelayPipes;
  readonly stallGate: StallGate;
  readonly registry: SessionRegistry;
  readonly holdQueue: HoldQueue;
  readonly keepalives: Keepalives;
  readonly tcpTimeouts: TcpTimeouts;
}

/** All parts of one proxy. */
export type Assembly = BaseParts & ProxyParts;

interface Hooks {
  readonly isStopping: () => boolean;
  readonly onConnection: ListenersOptions['onConnection'];
}

export function assemble(options: ProxyOptions, hooks: Hooks): Assembly {
  const { siblings, onEvent } = options;
  const registry = new SessionRegistry(siblings);
  const holdQueue = new HoldQueue({
    ...options,
    policy: () => inForce.current().hold,
    heldElsewhere: () => siblings?.others().held ?? 0,
  });
  const drains = new Drains({ ...options, perSecond: options.client.maxDisconnectsPerSecond });
  const listeners = new Listeners({
    onConnection: hooks.onConnection,
    inherited: options.inherited,
    onFailure: (pool, detail) => onEvent({ kind: 'listener_failed', pool, detail }),
    isShared: siblings !== undefined,
    createServer: options.createServer,
    arePlain: () => pipes.isOn(),
  });
  const pipes = new RelayPipes(options);
  const inForce: PolicyInForce = new PolicyInForce(options, { registry, drains, listeners, holdQueue });
  inForce.adopt(options);
  const base = {
    inForce,
    identity: new TlsIdentity(options),
    listeners,
    startups: new StartupCounts(),
    picker: new Picker({ ...options, registry, drains }),
    degraded: new DegradedPools(options.clock),
    parked: new ParkedBackends(),
    drains,
    pipes,
    stallGate: new StallGate(options),
    registry,
    holdQueue,
    keepalives: new Keepalives({ ...options, registry, policy: () => inForce.current() }),
    tcpTimeouts: new TcpTimeouts({
      ...options,
      registry,
      policy: () => inForce.current(),
      read: options.readSilentConnections,
    }),
  };
  return { ...sessionParts(base, options, hooks), ...base };
}

function sessionParts(base: BaseParts, options: ProxyOptions, { isStopping }: Hooks): ProxyParts {
  const { inForce, registry, identity, startups, drains } = base;
  const policy = () => inForce.current();
  const backend = () => policy().backend;
  const dial = options.dial ?? plainDialer(() => base.pipes.isOn());
  const pool: ProxyParts['pool'] = (name) => inForce.pool(name);
  const caFile = () => inForce.current().branches?.backends.caFile;
  const dialServer = serverDialer({ ...options, dial, caFile, memberTls: () => backend().tls });
  /** For connections of Pointsman itself. `Keepalives` sees those of sessions. */
  const ownDial = keptAlive(dial, () => backend().tcpKeepalivesIdleMs);
  const ownDialServer = serverDialer({ ...options, dial: ownDial, caFile, memberTls: () => backend().tls });
  const cancels = new Cancels({ ...options, registry, dial: ownDialServer, dialPeer: ownDial, policy });
  const connector = new BackendConnector({ ...options, ...base, dial: dialServer, policy: backend });
  const buffered = new BufferedBytes();
  const packets = new StartupPackets();
  const limiting = { ...options, drains };
  const { siblings, openPositions } = options;
  const positions = openPositions && positionsBy({ ...options, openPositions }, ownDialServer, () => inForce.current());
  return {
    ...options,
    ...base,
    policy,
    pool,
    isStopping,
    admission: new Admission({ ...options, limits: () => inForce.current().client, others: siblings?.others }),
    registry,
    newStartup: (client, awaitsHeader, outcome) =>
      new ClientStartup(client, {
        clock: options.clock,
        timeoutMs: inForce.current().client.startupTimeoutMs,
        tls: isLocal(client) ? NO_TLS : identity.own(),
        awaitsHeader,
        buffered,
        packets,
        counts: startups,
        readFew: base.pipes.readFew,
        ...outcome,
      }),
    connector,
    refusals: base.picker.refusals,
    latency: base.picker.latency,
    connectToBranch: branchConnector({ ...options, dial: dialServer, isStopping, routing: () => policy().branches }),
    watchLimits: (session, ofPool) => watchLimits(session, ofPool, limiting),
    openPipes: base.pipes.openPipes,
    mover: new LoadedMover({
      ...options,
      ...base,
      policy: () => inForce.current().moves,
      pool,
      pools: () => inForce.current().pools,
      dial: ownDialServer,
      connector,
      connectAttempts: () => backend().connectAttempts,
    }),
    cancels,
    positions,
    reads: new CausalReads({ ...options, registry, policy, pool, positions }),
    verifiers: new RoleVerifiers({ ...options, dial: ownDialServer, policy: () => inForce.current().logins }),
  };
}

function keptAlive(dial: Dial, idleMs: () => number | undefined): Dial {
  return (address, limits, onResult) =>
    dial(address, limits, (result) => {
      if (result.kind === 'connected') keepAlive(result.socket, idleMs());
      onResult(result);
    });
}
