// A proxy on free ports with a routing table that the test writes: one listener per pool. The core plans the actions of
// each change, so tests give the table and never the actions.
import { readPem } from '../../../src/config/files/pem.ts';
import { readKeyPair } from '../../../src/config/files/key-pair.ts';
import { planActions } from '../../../src/core/actions.ts';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import type { Trigger } from '../../../src/reports/trigger.ts';
import type { Clock } from '../../../src/model/instant.ts';
import type { Address } from '../../../src/model/member.ts';
import type { QuestionsPolicy } from '../../../src/model/causal-reads.ts';
import type { LoginsPolicy } from '../../../src/model/logins.ts';
import type { MovesPolicy } from '../../../src/model/moves.ts';
import type {
  CreateServer,
  ReadSilentConnections,
  LocatePeer,
  OpenPositions,
  OpenVerifiers,
} from '../../../src/proxy/options.ts';
import type { BackendPolicy, ClientPolicy, HoldPolicy, PoolPolicy, RelayMode } from '../../../src/model/policy.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import type { WalEvidence } from '../../../src/core/wal-samples.ts';
import type { BranchConnectPolicy, LocateBranch } from '../../../src/model/branch.ts';
import type { Dial } from '../../../src/proxy/server.ts';
import type { DescriptorBudget, ProxyPolicy } from '../../../src/proxy/options.ts';
import type { Siblings } from '../../../src/proxy/siblings.ts';
import { createProxy } from '../../../src/proxy/proxy.ts';
import type { LocalProxy } from '../../../src/proxy/proxy-interface.ts';
import { systemClock } from '../waiting/system-clock.ts';
import type { FakeBackend } from '../fakes/fake-backend.ts';
import { aStartup } from '../sockets/packets.ts';
import { connectRaw } from '../sockets/raw-client.ts';
import type { RawClient } from '../sockets/raw-client.ts';
import { aPolicy, aPool, aWritePool } from '../values/builders.ts';
import { aTableOf } from '../values/tables.ts';
import type { PoolPicture } from '../values/tables.ts';
import { ManualClock } from '../waiting/manual-clock.ts';
import { until } from '../waiting/until.ts';

export interface ProxyLabOptions {
  readonly pools?: readonly PoolPolicy[];
  /** The host of its listeners. The port is any, unless it is given. */
  readonly host?: string;
  readonly port?: number;
  readonly client?: Partial<ClientPolicy>;
  /** Load balancers there send the header of the PROXY protocol. */
  readonly proxyNetworks?: readonly string[];
  readonly descriptors?: DescriptorBudget;
  readonly backend?: Partial<BackendPolicy>;
  readonly hold?: Partial<HoldPolicy>;
  readonly relay?: RelayMode;
  readonly clock?: Clock;
  readonly dial?: Dial;
  readonly createServer?: CreateServer;
  readonly readSilentConnections?: ReadSilentConnections;
  /** Branches are configured if this is given. */
  readonly locateBranch?: LocateBranch;
  readonly branchConnect?: BranchConnectPolicy;
  readonly branchCaFile?: string;
  /** Other processes on the same ports, by their reports. */
  readonly siblings?: Siblings;
  /** Where the other Pointsmen are. The setting `peers` has one name if this is given. */
  readonly locatePeer?: LocatePeer;
  /** Moves are configured if this is given. */
  readonly moves?: Partial<MovesPolicy>;
  readonly logins?: LoginsPolicy;
  readonly openVerifiers?: OpenVerifiers;
  /** The role that asks. By default one without a password. */
  readonly questions?: QuestionsPolicy;
  /** The positions that the servers name. */
  readonly openPositions?: OpenPositions;
  /** The WAL positions that primaries reported. */
  readonly wal?: () => WalEvidence;
  readonly snapshot?: () => Snapshot;
  readonly freshen?: (pool: string) => Promise<void>;
  /** Called whenever the proxy has an overdue decision made. */
  readonly onDecideIfDue?: () => void;
  /** The table at first; pools not named hold. */
  readonly table?: Readonly<Record<string, PoolPicture>>;
  /** Runs when the addresses are bound, and no client is served yet. */
  readonly beforeServing?: (lab: ProxyLab) => Promise<void>;
}

type Closed = Extract<ProxyEvent, { kind: 'session_closed' }>;

export interface ProxyLab {
  readonly proxy: LocalProxy;
  readonly events: readonly ProxyEvent[];
  readonly triggers: readonly Trigger[];
  /** Where clients of a pool connect. */
  address(pool: string): Address;
  /** Decides anew: the table, then synchronously the actions, as the monitor does. */
  decide(pools: Readonly<Record<string, PoolPicture>>): void;
  /** A reload of the configuration: that of a lab without options, but for these changes. */
  reload(changes?: Partial<ProxyPolicy>): Promise<void>;
  closed(): readonly Closed[];
  reasons(): readonly string[];
  /** A client that has sent its startup message and waits for no answer. */
  connect(pool: string, parameters?: Readonly<Record<string, string>>): Promise<RawClient>;
  /** For afterEach: closes the proxy, waits until a manual clock has no timer left, and stops the backends. */
  end(...backends: readonly FakeBackend[]): Promise<void>;
}

/** The policy of a lab's proxy unless a test sets another one. */
export const LAB_POLICY: Pick<ProxyPolicy, 'client' | 'backend' | 'hold' | 'relay'> = {
  client: {
    startupTimeoutMs: 10_000,
    maxSessions: 1_000,
    maxDisconnectsPerSecond: 50,
    tls: { mode: 'passthrough' },
  },
  backend: { connectTimeoutMs: 3_000, attemptDelayMs: 250, connectAttempts: 3 },
  hold: { clientTimeoutMs: 30_000, maxSessions: 100, outageTimeoutMs: 60_000, maxConnectsPerSecond: 1_000 },
  relay: 'auto',
};

/** No session ends because a machine is slow: a test that lets a time pass sets it. */
const MOVES: MovesPolicy = {
  mode: 'planned',
  roles: ['*'],
  verifiers: undefined,
  md5: false,
  waitMs: 600_000,
  concurrent: 8,
  perSecond: 1_000,
  questions: 16,
  parkTimeoutMs: 600_000,
  maxStateBytes: 65_536,
  settings: [],
  onStays: 'drain',
};

const QUESTIONS = { user: 'monitor', passwordFile: undefined, database: 'postgres', perSecond: 1000 };

const PEERS: Address = { host: 'pointsmen.test', port: 6432 };
const ANYWHERE: Address = { host: '127.0.0.1', port: 0 };
const BRANCH_CONNECT: BranchConnectPolicy = { attemptTimeoutMs: 5_000, budgetMs: 30_000 };

export async function startProxyLab(options: ProxyLabOptions = {}): Promise<ProxyLab> {
  const pools = options.pools ?? [aWritePool(), aPool()];
  const events: ProxyEvent[] = [];
  const triggers: Trigger[] = [];
  const holding = Object.fromEntries(pools.map(({ name }) => [name, {}]));
  let table: RoutingTable = aTableOf({ ...holding, ...options.table });
  const moves = options.moves && { ...MOVES, ...options.moves };
  const proxy = createProxy({
    pools,
    listeners: pools.map(({ name }) => ({
      address: { host: options.host ?? ANYWHERE.host, port: options.port ?? ANYWHERE.port },
      pool: name,
      proxyNetworks: options.proxyNetworks,
    })),
    client: { ...LAB_POLICY.client, ...options.client },
    backend: { ...LAB_POLICY.backend, ...options.backend },
    hold: { ...LAB_POLICY.hold, ...options.hold },
    relay: options.relay ?? LAB_POLICY.relay,
    table: () => table,
    decideIfDue: () => options.onDecideIfDue?.(),
    freshen: options.freshen ?? (() => Promise.resolve()),
    onTrigger: (trigger) => triggers.push(trigger),
    onEvent: (event) => events.push(event),
    readKeyPair,
    readPem,
    clock: options.clock ?? systemClock,
    random: () => 0,
    ...(options.locateBranch !== undefined && {
      branches: {
        connect: options.branchConnect ?? BRANCH_CONNECT,
        backends: { caFile: options.branchCaFile },
        pool: aPool({ name: 'branches' }),
      },
      locateBranch: options.locateBranch,
    }),
    moves,
    logins: options.logins,
    ...(options.openVerifiers === undefined ? {} : { openVerifiers: options.openVerifiers }),
    ...(options.openPositions === undefined
      ? {}
      : {
          openPositions: options.openPositions,
          questions: options.questions ?? QUESTIONS,
          probe: { writeMaxAgeMs: 5000 },
        }),
    ...(options.wal === undefined ? {} : { wal: options.wal }),
    ...(options.snapshot === undefined ? {} : { snapshot: options.snapshot }),
    ...(options.dial === undefined ? {} : { dial: options.dial }),
    createServer: options.createServer,
    readSilentConnections: options.readSilentConnections,
    ...(options.siblings === undefined ? {} : { siblings: options.siblings }),
    ...(options.locatePeer === undefined ? {} : { locatePeer: options.locatePeer, cancelPeers: [PEERS] }),
    descriptors: options.descriptors,
  });
  const bound = await proxy.listen();
  if (bound.kind === 'failed') throw new Error(bound.message);
  const addresses = new Map(bound.listeners.map(({ pool, address }) => [pool, address]));
  const closed = (): readonly Closed[] => events.filter((event) => event.kind === 'session_closed');
  const address = (pool: string): Address => {
    const found = addresses.get(pool);
    if (found === undefined) throw new Error(`no listener for pool ${pool}`);
    return found;
  };
  const lab: ProxyLab = {
    proxy,
    events,
    triggers,
    address,
    decide(pictures) {
      const previous = table;
      table = aTableOf({ ...holding, ...pictures });
      proxy.tableChanged(planActions({ ...aPolicy({ pools }), moves }, previous, table));
    },
    async reload(changes) {
      const standard = [aWritePool(), aPool()];
      const listeners = standard.map(({ name }) => ({
        address: { ...ANYWHERE, host: options.host ?? ANYWHERE.host },
        pool: name,
      }));
      const prepared = await proxy.prepare({ pools: standard, listeners, ...LAB_POLICY, ...changes });
      if (prepared.kind === 'failed') throw new Error(prepared.message);
      prepared.apply();
    },
    closed,
    reasons: () => closed().map(({ reason }) => reason),
    async connect(pool, parameters) {
      const client = await connectRaw(address(pool));
      client.socket.write(aStartup(parameters));
      return client;
    },
    async end(...backends) {
      proxy.close();
      const { clock } = options;
      if (clock instanceof ManualClock) await until('no timer left', () => clock.pending() === 0);
      await Promise.all(backends.map((backend) => backend.stop()));
    },
  };
  await options.beforeServing?.(lab);
  await bound.serving;
  return lab;
}
