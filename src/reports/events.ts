// What the shells tell about themselves while they run. telemetry/ turns each into a metric and, where an operator wants
// to read it, a log line; nothing else listens. Ids are plain numbers, addresses plain text.
import type { CloseReason } from '../model/close-reason.ts';
import type { MemberName, MemberRefusal } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { HoldCause, Route } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';
import type { Acceptance, RefusalKind } from '../core/snapshot.ts';

/** `outraced`: given up, because another member answered first. */
export type DialOutcome = 'connected' | 'refused' | 'timeout' | 'failed' | 'outraced';
export type CancelKeyKnowledge = 'known' | 'unknown';
export type HoldOutcome = 'released' | 'timeout' | 'gave_up' | 'refused';

/**
 * What a startup message in plain text said of its sender, cut to 63 bytes and printable; absent where TLS hides it.
 */
export interface Login {
  readonly user?: string;
  /** Without the target. */
  readonly database?: string;
}

export type ProxyEvent =
  | {
      readonly kind: 'client_accepted';
      readonly pool: PoolName;
      readonly session: number;
      readonly client: string;
    }
  | { readonly kind: 'hold_started'; readonly pool: PoolName; readonly session: number; readonly cause: HoldCause }
  | {
      readonly kind: 'hold_ended';
      readonly pool: PoolName;
      readonly session: number;
      readonly outcome: HoldOutcome;
      readonly waitedMs: number;
    }
  | {
      readonly kind: 'dial_finished';
      readonly pool: PoolName;
      readonly session: number;
      readonly member: MemberName;
      readonly outcome: DialOutcome;
      readonly durationMs: number;
    }
  | ({
      readonly kind: 'session_opened';
      readonly pool: PoolName;
      readonly session: number;
      readonly member: MemberName;
      readonly client: string;
    } & Login)
  | ({
      readonly kind: 'session_closed';
      readonly pool: PoolName;
      readonly session: number;
      /** Undefined when the client never reached one. */
      readonly member: MemberName | undefined;
      readonly client: string;
      readonly reason: CloseReason;
      readonly detail: string | undefined;
      readonly durationMs: number;
      readonly toBackendBytes: number;
      readonly toClientBytes: number;
    } & Login)
  | {
      readonly kind: 'cancel_forwarded';
      /** Of the listener it came to. */
      readonly pool: PoolName;
      /** `known`: of a session that was found, on the one member that it goes to. */
      readonly key: CancelKeyKnowledge;
      readonly members: readonly MemberName[];
    }
  /** How bytes are relayed from now on. `why`: why not past the streams of Node. */
  | { readonly kind: 'direct_io_chosen'; readonly isOn: boolean; readonly why?: string | undefined }
  | { readonly kind: 'listener_failed'; readonly pool: PoolName; readonly detail: string }
  /** Clients are answered with this certificate from now on; `expiresAt` in milliseconds since 1970. */
  | { readonly kind: 'certificate_loaded'; readonly file: string; readonly expiresAt: number }
  /** The files have changed and cannot be used: clients are answered as before. */
  | { readonly kind: 'certificate_refused'; readonly why: string };

/** What a name or a directory gives as contact points, whenever that changes. */
export interface ContactSourceEvent {
  readonly kind: 'contact_source_changed';
  /** As the operator wrote it. */
  readonly source: string;
  /** `10.0.0.1:8008` */
  readonly contactPoints: readonly string[];
  /** Present while it gives nothing new; `forMs` is absent when it never gave anything. */
  readonly failing?: { readonly why: string; readonly forMs?: number };
}

export type MonitorEvent =
  | {
      readonly kind: 'probe_finished';
      readonly member: MemberName;
      readonly check: string;
      /** `yes`, `no`, `refused`, or the failure's cause. */
      readonly outcome: string;
      readonly detail: string | undefined;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'discovery_finished';
      readonly source: string | undefined;
      readonly detail: string | undefined;
      readonly members: number;
      readonly durationMs: number;
    }
  /** The members of the document that are not used as it says, whenever that list changes. */
  | { readonly kind: 'members_refused'; readonly refused: readonly MemberRefusal[] }
  | {
      readonly kind: 'members_changed';
      readonly added: readonly MemberName[];
      readonly removed: readonly MemberName[];
    }
  | { readonly kind: 'route_changed'; readonly pool: PoolName; readonly from: Route | undefined; readonly to: Route }
  | {
      readonly kind: 'standing_changed';
      readonly pool: PoolName;
      readonly member: MemberName;
      readonly from: Standing | undefined;
      readonly to: Standing;
      /** The sentence of describe.ts. */
      readonly text: string;
    }
  /** A member answers as the primary and is not believed; there is no other. */
  | {
      readonly kind: 'primary_refused';
      readonly member: MemberName;
      readonly refusal: RefusalKind;
      /** The sentence of describe.ts. */
      readonly text: string;
    }
  /** One that was refused is believed from now on. */
  | {
      readonly kind: 'primary_accepted';
      readonly member: MemberName;
      readonly refusal: RefusalKind;
      readonly by: Acceptance['by'];
      /** `timeline 5 instead of timeline 6` */
      readonly detail: string;
    }
  /** By the operator's wish. */
  | { readonly kind: 'member_drained' | 'member_resumed'; readonly member: MemberName }
  /**
   * Its server tells new sessions that it is a standby, while its API proves that it is the primary: sessions go on.
   */
  | { readonly kind: 'standby_word_stale'; readonly member: MemberName }
  /** Somebody says that something happened. `isMerged`: it happened too soon after another, nothing more was asked for it. */
  | { readonly kind: 'refresh_asked'; readonly isMerged: boolean }
  | ContactSourceEvent
  | { readonly kind: 'urgent_probing'; readonly on: boolean; readonly triggers: readonly string[] };

/** The configuration was read again. */
export type ReloadEvent =
  | {
      readonly kind: 'config_reloaded';
      /** `probe.interval 1s -> 2s` */
      readonly changed: readonly string[];
      /** What was asked for and was not applied. */
      readonly needsRestart: readonly string[];
    }
  /** Nothing changed; one line for each reason. */
  | { readonly kind: 'config_reload_failed'; readonly problems: readonly string[] };

/** A process that serves clients, one of several. */
export type WorkerEvent =
  | { readonly kind: 'worker_started'; readonly worker: number; readonly pid: number }
  | {
      readonly kind: 'worker_ended';
      readonly worker: number;
      readonly pid: number | undefined;
      /** `killed by SIGKILL` */
      readonly why: string;
      /** That ended with it. */
      readonly sessions: number;
      /** Undefined: this program ends, and it is not replaced. */
      readonly replacedInMs: number | undefined;
    };

/** Something that makes waiting a whole probe interval unwise. */
export type Trigger =
  /** The backend of a live session, or one that had only its startup packet, went first: the server may be stopping. */
  | { readonly kind: 'backend_closed'; readonly member: MemberName }
  /** A session of a pool of primaries began on it, and it said that it takes no writes. */
  | { readonly kind: 'landed_on_standby'; readonly member: MemberName }
  | { readonly kind: 'dial_failed'; readonly member: MemberName }
  /** A member that was tried later answered first. */
  | { readonly kind: 'connect_slow'; readonly member: MemberName }
  | { readonly kind: 'backend_reset'; readonly member: MemberName }
  | { readonly kind: 'clients_held'; readonly pool: PoolName };
