// Matters that are told only when their outcome changes: the newest outcome of each.
import { handle, type EventHandlers } from '../reports/events.ts';
import type { Event } from './log-lines.ts';

type MatterOutcome = readonly [matter: string, outcome: string];

const OUTCOMES: EventHandlers<[], MatterOutcome> = {
  discovery_finished: ({ detail }) => ['discovery', detail === undefined ? 'found' : 'failed'],
  member_tls_failed: ({ member, reason }) => [tlsOf(member), reason],
  member_tls_verified: ({ member, expiresAt }) => [tlsOf(member), `until ${expiresAt}`],
};

export class News {
  readonly #last = new Map<string, string>();

  /** True: the event tells another outcome than the one before it. */
  take(event: Event): boolean {
    if (event.kind === 'members_changed') for (const member of event.removed) this.#last.delete(tlsOf(member));
    const told = handle(OUTCOMES, event);
    if (told === undefined) return false;
    const [matter, outcome] = told;
    const isNews = this.#last.get(matter) !== outcome;
    this.#last.set(matter, outcome);
    return isNews;
  }
}

function tlsOf(member: string): string {
  return `TLS to ${member}`;
}
