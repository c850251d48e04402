// Checks an operation before it is sent: what every version of the API would reject, or answer in a way that helps
// nobody. Values that depend on the member's version are left to it. Pure.
import type { ClusterOperation } from './control.ts';

/** One sentence; undefined when the operation may be sent. `now`: milliseconds since the epoch. */
export function whyInvalid(operation: ClusterOperation, now: number): string | undefined {
  switch (operation.kind) {
    case 'switchover': {
      const { leader, candidate, scheduled_at: at } = operation;
      if (leader === '') return 'A switchover needs the name of the leader.';
      if (leader === candidate) return `${leader} is the leader already: name another member as the candidate.`;
      return at === undefined ? undefined : whyNotInFuture('scheduled_at', at, now);
    }
    case 'failover':
      if (operation.candidate === '') return 'A failover needs the name of a candidate.';
      if (operation.leader === undefined || operation.leader !== operation.candidate) return undefined;
      return `${operation.leader} is the leader already: name another member as the candidate.`;
    case 'restart':
      return whyNoRestart(operation, now);
    case 'patch_config':
      return isEmpty(operation.changes) ? 'The change of the configuration is empty.' : undefined;
    case 'replace_config':
      return isEmpty(operation.config)
        ? 'An empty configuration would remove every setting of the cluster.'
        : undefined;
    case 'cancel_switchover':
    case 'cancel_restart':
    case 'reload':
    case 'reinitialize':
    case 'pause':
    case 'resume':
      return undefined;
  }
}

/** The management API, "Versioning": from 4.0.0 on `master` is not accepted. */
const ROLES: readonly string[] = ['primary', 'replica', 'standby_leader'];

function whyNoRestart(
  { role, timeout, schedule }: Extract<ClusterOperation, { kind: 'restart' }>,
  now: number,
): string | undefined {
  const written: string | undefined = role;
  if (written !== undefined && !ROLES.includes(written)) {
    const word = written === 'master' ? ' (Patroni 4 does not accept master: primary is the word)' : '';
    return `role must be primary, replica or standby_leader${word}.`;
  }
  if (typeof timeout === 'number' && !(timeout > 0)) return 'timeout must be more than 0 seconds.';
  return schedule === undefined ? undefined : whyNotInFuture('schedule', schedule, now);
}

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i;
const EXAMPLE = '2026-01-31T22:30:00+01:00';

function whyNotInFuture(field: string, text: string, now: number): string | undefined {
  const [, date, time, offset] = TIMESTAMP.exec(text.trim()) ?? [];
  if (date === undefined || time === undefined) return `${field} is not a time in ISO 8601 such as ${EXAMPLE}.`;
  if (offset === undefined) return `${field} has no offset from UTC: write it as in ${EXAMPLE}, or Z for UTC.`;
  const at = Date.parse(`${date}T${time}${fullOffset(offset)}`);
  if (Number.isNaN(at)) return `${field} is not a time that exists: ${text}.`;
  return at > now ? undefined : `${field} has gone by: ${text}.`;
}

/** As JavaScript reads it: `+01` and `+0100` become `+01:00`. */
export function fullOffset(offset: string): string {
  if (offset.toUpperCase() === 'Z') return 'Z';
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${offset.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}
