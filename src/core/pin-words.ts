// Why sessions cannot move, as a predicate: `1 listens`, `12 listen`.
import { PIN_REASONS, type PinReason } from '../model/moves.ts';
import { sumOf } from '../model/sums.ts';

/** For one session, and for several. */
const WORDS: Readonly<Record<PinReason, readonly [one: string, several: string]>> = {
  unreadable: [
    'cannot be read (TLS with the server, or no PostgreSQL)',
    'cannot be read (TLS with the server, or no PostgreSQL)',
  ],
  replication: ['replicates', 'replicate'],
  role_not_configured: ['has a role that moves.roles does not name', 'have roles that moves.roles does not name'],
  authentication: ['has a login that cannot be repeated', 'have logins that cannot be repeated'],
  listening: ['listens', 'listen'],
  holdable_cursors: ['has a cursor WITH HOLD', 'have cursors WITH HOLD'],
  advisory_locks: ['holds an advisory lock', 'hold advisory locks'],
  temporary_objects: ['has temporary objects', 'have temporary objects'],
  temporary_slots: ['has a temporary replication slot', 'have temporary replication slots'],
  unnamed_statement: ['has an unnamed statement that is too long', 'have unnamed statements that are too long'],
  too_many_statements: ['has too many prepared statements', 'have too many prepared statements'],
  too_much_state: ['has more state than moves.max_state', 'have more state than moves.max_state'],
  session_authorization: ['used SET SESSION AUTHORIZATION', 'used SET SESSION AUTHORIZATION'],
  privileged_settings: ['has settings that it may not set itself', 'have settings that they may not set themselves'],
  unclear_statement: ['has a statement of unclear meaning', 'have statements of unclear meaning'],
  unknown_position: [
    'has read from a server that cannot be compared',
    'have read from servers that cannot be compared',
  ],
  hidden_state: ['has state that no catalog shows', 'have state that no catalog shows'],
  busy: ['is busy', 'are busy'],
  question_failed: ['could not be asked', 'could not be asked'],
};

/** `12 listen, 3 have temporary objects`: the most frequent reason first. Empty without a session. */
export function staysText(stays: Readonly<Partial<Record<PinReason, number>>>): string {
  return PIN_REASONS.map((reason) => ({ reason, count: stays[reason] ?? 0 }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .map(({ reason, count }) => `${count} ${WORDS[reason][count === 1 ? 0 : 1]}`)
    .join(', ');
}

/** `3 stayed: 2 listen, 1 is busy`, or nothing. */
export function stayText(stays: Readonly<Partial<Record<PinReason, number>>>, verb: string): readonly string[] {
  const total = sumOf(Object.values(stays), (count) => count);
  return total === 0 ? [] : [`${total} ${verb}: ${staysText(stays)}`];
}

/** `3 failed: 2 move_login, 1 move_timeout`, or nothing. */
export function failureText(failed: Readonly<Partial<Record<string, number>>>): readonly string[] {
  const reasons = Object.entries(failed).map(([reason, count = 0]) => ({ reason, count }));
  const total = sumOf(reasons, ({ count }) => count);
  const each = reasons.toSorted((a, b) => b.count - a.count).map(({ reason, count }) => `${count} ${reason}`);
  return total === 0 ? [] : [`${total} failed: ${each.join(', ')}`];
}

/** Their detail is a number: `holds 3 advisory locks`. */
const COUNTED: Readonly<Partial<Record<string, readonly [verb: string, noun: string, rest?: string]>>> = {
  advisory_locks: ['holds', 'advisory lock'],
  temporary_objects: ['has', 'temporary object'],
  temporary_slots: ['has', 'temporary replication slot'],
  too_many_statements: ['has', 'prepared statement', ', and 1000 at most can move'],
};

/** For one session: `listens (jobs)`. A reason that this version does not know stays as it is. */
export function pinText(reason: string, detail?: string | null): string {
  const known = PIN_REASONS.find((one) => one === reason);
  const words = known === undefined ? reason : WORDS[known][0];
  if (detail === undefined || detail === null) return words;
  const counted = COUNTED[reason];
  if (counted === undefined || !/^\d+$/.test(detail)) return `${words} (${detail})`;
  const [verb, noun, rest = ''] = counted;
  return `${verb} ${detail} ${noun}${detail === '1' ? '' : 's'}${rest}`;
}
