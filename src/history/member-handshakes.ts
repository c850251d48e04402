// The newest TLS handshakes of each member (`backend.tls`): the certificate, and since when they fail. Pure.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { TlsFault } from '../model/tls-fault.ts';
import type { ReportedEvent } from '../reports/events.ts';

/** The failures since the last success. */
export interface FailedHandshakes {
  /** The first, and the newest. */
  readonly since: Instant;
  readonly at: Instant;
  readonly count: number;
  /** Those of the newest. */
  readonly reason: TlsFault;
  readonly why: string;
}

export interface HandshakeRecord {
  /** The certificate that was verified last. Milliseconds since 1970. Undefined: none was. */
  readonly expiresAt: number | undefined;
  /** Undefined: the newest one succeeded. */
  readonly failing: FailedHandshakes | undefined;
}

export type HandshakesByMember = ReadonlyMap<MemberName, HandshakeRecord>;

export class MemberHandshakes {
  readonly #records = new Map<MemberName, HandshakeRecord>();
  #ownExpiresAt: number | undefined;

  take(event: ReportedEvent, at: Instant): void {
    if (event.kind === 'members_changed') {
      for (const member of event.removed) this.#records.delete(member);
    } else if (event.kind === 'member_tls_verified') {
      this.#ownExpiresAt = event.ownExpiresAt;
      const { failing } = this.#records.get(event.member) ?? {};
      // The member verifies Pointsman's certificate after that.
      const stays = failing?.reason === 'own_certificate' ? failing : undefined;
      this.#records.set(event.member, { expiresAt: event.expiresAt, failing: stays });
    } else if (event.kind === 'session_opened' && event.member !== undefined && event.tls !== 'passthrough') {
      const { expiresAt, failing } = this.#records.get(event.member) ?? {};
      if (failing?.reason === 'own_certificate') this.#records.set(event.member, { expiresAt, failing: undefined });
    } else if (event.kind === 'member_tls_failed') {
      const { member, reason, why } = event;
      const { expiresAt, failing } = this.#records.get(member) ?? {};
      const { since = at, count = 0 } = failing ?? {};
      this.#records.set(member, { expiresAt, failing: { since, at, count: count + 1, reason, why } });
    }
  }

  /** The end of Pointsman's own certificate, as the newest handshake had it. Undefined: it had none. */
  ownExpiresAt(): number | undefined {
    return this.#ownExpiresAt;
  }

  /** Absent: no connection to the member was to be encrypted. */
  all(): HandshakesByMember {
    return this.#records;
  }
}
