// Events that the shells report while they run. telemetry/ turns each into a metric and, if an operator should read it,
// a log line. Ids are plain numbers, addresses plain text.
import type { BranchIdentity, BranchListEvent } from '../model/branch.ts';
import type { CloseReason } from '../model/close-reason.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { HoldCause } from '../core/routing-table.ts';
import { BRANCH_EVENT_CLASSES, type BranchSessionEvent } from './branch-events.ts';
import type { EventClass, OfSession } from './event-parts.ts';
import { LOGIN_EVENT_CLASSES, type LoginEvent } from './login-events.ts';
import { MONITOR_EVENT_CLASSES, type MonitorEvent } from './monitor-events.ts';
import { MOVE_EVENT_CLASSES, type MoveEvent } from './move-events.ts';
import { OPERATION_EVENT_CLASSES, type OperationEvent } from './operation-events.ts';
import { POSITION_EVENT_CLASSES, type PositionEvent } from './position-events.ts';
import { READ_EVENT_CLASSES, type ReadEvent } from './read-events.ts';
import type { SessionTls } from './session-list.ts';

/**
 * The version of the events and their fields in the log, in `GET /events` and in incidents. It increases when a field
 * changes its meaning or goes; a new event or field does not change it.
 */
export const EVENTS_VERSION = 1;

/** `outraced`: another member answered first. */
export type DialOutcome = 'connected' | 'refused' | 'timeout' | 'failed' | 'outraced';
export type CancelKeyKnowledge = 'known' | 'peer' | 'unknown';
export const HOLD_OUTCOMES = ['released', 'timeout', 'gave_up', 'refused'] as const;
export type HoldOutcome = (typeof HOLD_OUTCOMES)[number];

/** From a readable startup message, cut to 63 bytes and made printable. Absent where TLS hides it. */
export interface Login {
  readonly user?: string;
  /** Without the name of a pool. */
  readonly database?: string;
}

interface Mediation {
  /** The load balancer that named the client (PROXY protocol). */
  readonly via?: string;
}

/** Known of a client that has reached a member. */
export interface ClientFacts extends Login, Mediation {
  /** Its application_name, likewise. */
  readonly application?: string;
  readonly tls?: SessionTls;
  /** The branch of a session with a branch as its target: it has no member. */
  readonly branch?: BranchIdentity;
}

export type ProxyEvent =
  | BranchSessionEvent
  | LoginEvent
  | MoveEvent
  | PositionEvent
  | ReadEvent
  | (OfSession & Mediation & { readonly kind: 'client_accepted'; readonly client: string })
  | (OfSession & { readonly kind: 'hold_started'; readonly cause: HoldCause })
  | (OfSession & { readonly kind: 'hold_ended'; readonly outcome: HoldOutcome; readonly waitedMs: number })
  | (OfSession & {
      readonly kind: 'dial_finished';
      readonly member: MemberName;
      readonly outcome: DialOutcome;
      readonly durationMs: number;
    })
  | (OfSession &
      ClientFacts & {
        readonly kind: 'session_opened';
        /** Undefined: it is connected to a branch. */
        readonly member: MemberName | undefined;
        readonly client: string;
      })
  | (OfSession &
      ClientFacts & {
        readonly kind: 'session_closed';
        /** Undefined: the client never reached a member, or its target was a branch. */
        readonly member: MemberName | undefined;
        readonly client: string;
        readonly reason: CloseReason;
        readonly detail: string | undefined;
        /** The wait of a client for a route, before its server refused it. */
        readonly waitedMs?: number;
        /** From the end of the session until its client had read so, or was no longer waited for. */
        readonly lingeredMs?: number;
        readonly durationMs: number;
        readonly toBackendBytes: number;
        readonly toClientBytes: number;
      })
  | {
      readonly kind: 'cancel_forwarded';
      /** The listener's pool. */
      readonly pool: PoolName;
      /**
       * `known`: the key belongs to a session of ours, so one member or one branch gets the request. `peer`: to one of
       * another Pointsman, which gets it.
       */
      readonly key: CancelKeyKnowledge;
      /** Empty, without a branch or peer: no server has seen the statement, which was cancelled here; or none ran. */
      readonly members: readonly MemberName[];
      /** The address of the other Pointsman. */
      readonly peer?: string;
      readonly branch?: BranchIdentity;
    }
  /** How bytes are relayed from now on. `why`: the reason against the direct path. */
  | { readonly kind: 'relay_chosen'; readonly isOn: boolean; readonly why?: string | undefined }
  | { readonly kind: 'listener_failed'; readonly pool: PoolName; readonly detail: string }
  /** A fault of Pointsman's own in no session. `detail`: the error, and where. */
  | { readonly kind: 'unexpected_fault'; readonly detail: string }
  /** Clients get this certificate from now on. `expiresAt`: milliseconds since 1970. */
  | { readonly kind: 'certificate_loaded'; readonly file: string; readonly expiresAt: number }
  /** The changed files cannot be used. Clients get the old certificate. */
  | { readonly kind: 'certificate_refused'; readonly why: string };

/** The configuration was read again. */
export type ReloadEvent =
  | {
      readonly kind: 'config_reloaded';
      /** `probe.interval 1s -> 2s` */
      readonly changed: readonly string[];
      /** Changes that were not applied. */
      readonly needsRestart: readonly string[];
    }
  /** Nothing was applied. One line for each reason. */
  | { readonly kind: 'config_reload_failed'; readonly problems: readonly string[] };

/** About one of several processes that serve clients. */
export type WorkerEvent =
  | { readonly kind: 'worker_started'; readonly worker: number; readonly pid: number }
  | {
      readonly kind: 'worker_ended';
      readonly worker: number;
      readonly pid: number | undefined;
      /** `killed by SIGKILL` */
      readonly why: string;
      /** Sessions that ended with it. */
      readonly sessions: number;
      /** Undefined: the program ends, so the worker is not replaced. */
      readonly replacedInMs: number | undefined;
    };

/** Whether an operator, or a schedule of the cluster, wanted it: history/planned-or-not.ts decides. */
export const PLANS = ['planned', 'unplanned', 'unknown'] as const;
export type Plan = (typeof PLANS)[number];

/** An outage of a pool is over. The numbers are those of its incident so far: all interruptions of the pool. */
export interface OutageEvent {
  readonly kind: 'outage_summary';
  readonly pool: PoolName;
  /** Its id. */
  readonly incident: string;
  /** False: the pool has a route again. True: the incident has settled, and a number has changed since. */
  readonly isFinal: boolean;
  readonly planned: Plan;
  readonly interruptions: number;
  /** Without a route. */
  readonly durationMs: number;
  /** Clients that waited. */
  readonly held: number;
  readonly longestHoldMs: number;
  /** Clients that never reached a member. */
  readonly refusedClients: number;
  /** Sessions that did not end by their clients. */
  readonly closedSessions: number;
  readonly text: string;
}

/** Any of them, as log, metrics and incidents get it. */
export type ReportedEvent =
  | ProxyEvent
  | WorkerEvent
  | MonitorEvent
  | BranchListEvent
  | ReloadEvent
  | OperationEvent
  | OutageEvent;

export type EventKind = ReportedEvent['kind'];
export type EventOf<Kind extends EventKind> = Extract<ReportedEvent, { readonly kind: Kind }>;

/** A new kind has its row here, or in the table of another `*-events.ts`. */
export const EVENT_CLASSES: Readonly<Record<EventKind, EventClass>> = {
  ...BRANCH_EVENT_CLASSES,
  ...LOGIN_EVENT_CLASSES,
  ...MONITOR_EVENT_CLASSES,
  ...MOVE_EVENT_CLASSES,
  ...OPERATION_EVENT_CLASSES,
  ...POSITION_EVENT_CLASSES,
  ...READ_EVENT_CLASSES,
  client_accepted: 'detail',
  hold_started: 'evidence',
  hold_ended: 'evidence',
  dial_finished: 'story',
  session_opened: 'evidence',
  session_closed: 'story',
  cancel_forwarded: 'detail',
  relay_chosen: 'notice',
  listener_failed: 'story',
  unexpected_fault: 'story',
  certificate_loaded: 'notice',
  certificate_refused: 'notice',
  config_reloaded: 'story',
  config_reload_failed: 'story',
  worker_started: 'story',
  worker_ended: 'story',
  // It is made of the findings of an incident.
  outage_summary: 'notice',
};

export function ofKind<Entry extends { readonly event: ReportedEvent }, Kind extends EventKind>(
  entries: readonly Entry[],
  kind: Kind,
): readonly (Entry & { readonly event: EventOf<Kind> })[] {
  return entries.filter((one): one is Entry & { readonly event: EventOf<Kind> } => one.event.kind === kind);
}

/** By kind. Events of the other kinds are of no interest. */
export type EventHandlers<Args extends readonly unknown[] = [], Result = void> = {
  readonly [Kind in EventKind]?: (event: EventsByKind[Kind], ...args: Args) => Result;
};
export type EventsByKind = { readonly [Kind in EventKind]: EventOf<Kind> };

/** Undefined: there is no handler. */
export function handle<Args extends readonly unknown[], Result>(
  handlers: EventHandlers<Args, Result>,
  event: ReportedEvent,
  ...args: Args
): Result | undefined {
  return handleKind(handlers, event.kind, event, args);
}

function handleKind<Kind extends EventKind, Args extends readonly unknown[], Result>(
  handlers: EventHandlers<Args, Result>,
  kind: Kind,
  event: EventsByKind[Kind],
  args: Args,
): Result | undefined {
  const handler: ((event: EventsByKind[Kind], ...args: Args) => Result) | undefined = handlers[kind];
  return handler?.(event, ...args);
}
