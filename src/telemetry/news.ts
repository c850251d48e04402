// Matters that are told only when their outcome changes: the newest outcome of each.
import type { MemberName } from '../model/member.ts';
import { handle, type EventHandlers } from '../reports/events.ts';
import type { Event } from './log-lines.ts';

type MatterOutcome = readonly [matter: string, outcome: string];

const OUTCOMES: EventHandlers<[], MatterOutcome | undefined> = {
  discovery_finished: ({ detail }) => ['discovery', detail === undefined ? 'found' : 'failed'],
  member_tls_failed: ({ member, reason }) => [reason === 'own_certificate' ? ownTo(member) : tlsOf(member), reason],
  member_tls_verified: ({ member, expiresAt }) => [tlsOf(member), `until ${expiresAt}`],
  positions_connected: ({ member }) => [positionsOf(member), 'connected'],
  positions_failed: ({ member, why }) => [positionsOf(member), why],
  session_opened: ({ member, tls }) =>
    member === undefined || tls === 'passthrough' ? undefined : [ownTo(member), 'accepted'],
};

export class News {
  readonly #last = new Map<string, string>();

  /** True: the event tells another outcome than the one before it. */
  take(event: Event): boolean {
    if (event.kind === 'members_changed') for (const member of event.removed) this.#forget(member);
    const told = handle(OUTCOMES, event);
    if (told === undefined) return false;
    const [matter, outcome] = told;
    const isNews = this.#last.get(matter) !== outcome;
    this.#last.set(matter, outcome);
    return isNews;
  }

  #forget(member: MemberName): void {
    for (const matter of [tlsOf(member), ownTo(member), positionsOf(member)]) this.#last.delete(matter);
  }
}

function tlsOf(member: MemberName): string {
  return `TLS to ${member}`;
}

function positionsOf(member: MemberName): string {
  return `positions of ${member}`;
}

/** The member verifies Pointsman's certificate when it has shown its own. */
function ownTo(member: MemberName): string {
  return `own certificate to ${member}`;
}
