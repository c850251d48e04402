// The connector of one pool, with a table that the test writes and servers that answer when the test says so. It notes
// what its client is told.
import { Socket } from 'node:net';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import { nothing } from '../../../src/model/once.ts';
import type { BackendPolicy, PoolPolicy } from '../../../src/model/policy.ts';
import { ConnectAttempts } from '../../../src/proxy/connect/connect-attempts.ts';
import { BackendConnector, type ConnectRequest } from '../../../src/proxy/connect/connect-backend.ts';
import { ParkedBackends, type ParkedBackend } from '../../../src/proxy/connect/parked-backends.ts';
import { Picker } from '../../../src/proxy/connect/picker.ts';
import type { DialLimits, DialResult } from '../../../src/proxy/server.ts';
import { SessionRegistry } from '../../../src/proxy/session-registry.ts';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import type { Trigger } from '../../../src/reports/trigger.ts';
import { aPool } from '../values/builders.ts';
import { aTableOf, type PoolPicture } from '../values/tables.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

export const POLICY = { connectTimeoutMs: 3_000, attemptDelayMs: 250, connectAttempts: 3 };
export const FAILED = {
  kind: 'failed',
  outcome: 'refused',
  isLocalFault: false,
  detail: 'connection refused',
} as const;
export const STARTUP = { kind: 'startup', packet: Buffer.from('startup') } as const;

interface Dialed extends DialLimits {
  readonly end: (result: DialResult) => void;
  isAborted: boolean;
}

/** Members of these names, whose host has the same name. */
export function opened(...members: readonly string[]): PoolPicture {
  return { open: Object.fromEntries(members.map((member) => [member, { host: member, port: 5432 }])) };
}

export class ConnectLab {
  readonly clock = new ManualClock();
  readonly triggers: Trigger[] = [];
  readonly events: ProxyEvent[] = [];
  /** The words to the client, in their order. */
  readonly told: string[] = [];
  /** The connects by their member; the last one of each. */
  readonly dialed: Record<string, Dialed> = {};
  /** The pools for which fresh evidence was requested. */
  readonly freshened: string[] = [];
  readonly parked = new ParkedBackends();
  readonly picker: Picker;
  policy: BackendPolicy = POLICY;
  table: RoutingTable = aTableOf({ read: opened('pg-1', 'pg-2', 'pg-3') });
  fresh: Promise<void> | undefined;
  isClearing = false;
  onDecision: () => void = nothing;
  onTrigger: () => void = nothing;
  /** Set once a server has declined encryption. */
  declined: ParkedBackend | undefined;
  abort: () => void = nothing;
  readonly #pool: PoolPolicy;
  readonly #attempts = new ConnectAttempts(POLICY.connectAttempts);
  readonly #connector: BackendConnector;

  constructor(pool: PoolPolicy = aPool({ balance: 'round_robin' })) {
    this.#pool = pool;
    const { clock } = this;
    const registry = new SessionRegistry();
    registry.sessionsOn = () => 0;
    const drains = { hurry: nothing, isClearing: () => this.isClearing };
    this.picker = new Picker({ registry, drains, onEvent: (event) => this.events.push(event), clock, random: () => 0 });
    this.#connector = new BackendConnector({
      clock,
      table: () => this.table,
      decideIfDue: () => this.onDecision(),
      freshen: (name) => {
        this.freshened.push(name);
        return this.fresh;
      },
      onTrigger: (trigger) => {
        this.triggers.push(trigger);
        this.onTrigger();
      },
      onEvent: (event) => this.events.push(event),
      dial: (server, limits, end) => {
        const dialed = { ...limits, end, isAborted: false };
        this.dialed['member' in server ? server.member : ''] = dialed;
        return () => (dialed.isAborted = true);
      },
      picker: this.picker,
      parked: this.parked,
      policy: () => this.policy,
    });
  }

  connect(changes: Partial<ConnectRequest> = {}): void {
    const { told } = this;
    this.abort = this.#connector.connect({
      session: 7,
      clientAddress: '10.0.0.9',
      pool: this.#pool,
      attempts: this.#attempts,
      firstRequest: undefined,
      parked: undefined,
      onAssigned: ({ member, isFallback, isLagging }) =>
        told.push(`assigned to ${member}${isFallback ? ' by fallback' : ''}${isLagging ? ', lagging' : ''}`),
      onConnected: ({ member }, _backend, reply) =>
        told.push(`connected to ${member}${reply === undefined ? '' : `: ${reply.bytes.length} bytes`}`),
      onDeclined: (parked) => {
        this.declined = parked;
        told.push('declined');
      },
      onClosed: () => told.push('closed'),
      onRouteAgain: () => told.push('route again'),
      onUnreachable: (pauseMs) => told.push(`pause of ${pauseMs} ms`),
      ...changes,
    });
  }

  /** The server accepts the connect. Returns its end of it, which sends nowhere. */
  accept(member: string): Socket {
    const socket = new Socket();
    socket.write = () => true;
    this.dialed[member]?.end({ kind: 'connected', socket });
    return socket;
  }

  fail(member: string, changes: { readonly isLocalFault?: boolean } = {}): void {
    this.dialed[member]?.end({ ...FAILED, ...changes });
  }

  /** The words of the last failures, with the member that refused. */
  failure(): ReturnType<ConnectAttempts['failure']> {
    return this.#attempts.failure();
  }

  words(): Uint8Array | undefined {
    return this.#attempts.words('backend_refused');
  }
}
