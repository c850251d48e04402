// The next step of a parked session, in words: for an operator, and for the client whose time is over. Pure.
import type { SeenPosition } from '../../core/caught-up.ts';
import { durationText } from '../../core/describe.ts';
import { HOLD_WORDS, type Route } from '../../core/routing-table.ts';
import type { MemberName } from '../../model/member.ts';
import type { ParkedStep } from './departure.ts';

export interface WaitFacts {
  readonly from: MemberName;
  readonly step: ParkedStep;
  /** The route of its pool. Undefined: the pool is no longer configured. */
  readonly route: Route | undefined;
  /** Why the pool takes no more sessions, although its route is open. */
  readonly limit: string | undefined;
  /** The WAL that its client has seen: the next server must have it. */
  readonly shown: SeenPosition | undefined;
  readonly seemsCaughtUp: (shown: SeenPosition, member: MemberName) => boolean;
}

export function waitsFor({ from, step, route, limit, shown, seemsCaughtUp }: WaitFacts): string {
  if (step === 'unsure') return `certainty that ${from} is lost`;
  if (step === 'owing') return 'the next request of its client, which reads that its transaction was ended';
  if (route === undefined) return 'a route: the configuration no longer has its pool';
  if (route.kind === 'hold') return `a route: ${HOLD_WORDS[route.cause]}`;
  if (route.kind === 'closed') return 'a route: no eligible member';
  if (limit !== undefined) return `a free place: ${limit}`;
  if (shown !== undefined && !route.targets.some(({ member }) => seemsCaughtUp(shown, member))) {
    return `a member that shows all that ${from} has shown`;
  }
  return step === 'paused' ? 'its next attempt' : 'its turn (moves.concurrent, moves.per_second)';
}

/** DETAIL of a session whose time is over. `waited`: absent while it is logged in at its next server. */
export function tooLateText(limitMs: number, waited: string | undefined, lastFailure: string | undefined): string {
  const parts = [
    `no next server within ${durationText(limitMs)}`,
    ...(waited === undefined ? [] : [`it waited for ${waited}`]),
    ...(lastFailure === undefined ? [] : [lastFailure]),
  ];
  return parts.join('; ');
}
