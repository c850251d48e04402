// Operations that are refused before any request is sent.
import { expect, test } from 'vitest';
import type { ClusterOperation } from '../../../src/cluster/control.ts';
import { whyInvalid } from '../../../src/cluster/valid-operation.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');

/** As the JSON of a request may have it. */
function operation(fields: object): ClusterOperation {
  return JSON.parse(JSON.stringify(fields));
}

const switchover = (scheduled_at: string) => ({ kind: 'switchover', leader: 'a', scheduled_at });
const restart = (fields: object) => ({ kind: 'restart', member: 'a', ...fields });

test.each<[object, string]>([
  [{ kind: 'switchover', leader: 'a', candidate: 'a' }, 'a is the leader already'],
  [{ kind: 'switchover', leader: '' }, 'needs the name of the leader'],
  [{ kind: 'failover', candidate: '' }, 'needs the name of a candidate'],
  [{ kind: 'failover', leader: 'a', candidate: 'a' }, 'a is the leader already'],
  [switchover('2026-06-01T13:00:00'), 'scheduled_at has no offset from UTC: write it as in'],
  [switchover('2026-06-01'), 'scheduled_at is not a time in ISO 8601'],
  [switchover('tomorrow'), 'scheduled_at is not a time in ISO 8601'],
  [switchover('2026-06-01T11:59:59Z'), 'scheduled_at has gone by'],
  [switchover('2026-06-01T13:30:00+02:00'), 'scheduled_at has gone by'],
  [switchover('2026-13-01T11:59:59Z'), 'scheduled_at is not a time that exists'],
  [restart({ schedule: '2026-06-01T11:00:00+00' }), 'schedule has gone by'],
  [restart({ role: 'master' }), 'Patroni 4 does not accept master: primary is the word'],
  [restart({ role: 'king' }), 'role must be primary, replica or standby_leader.'],
  [restart({ timeout: 0 }), 'timeout must be more than 0 seconds'],
  [{ kind: 'patch_config', changes: {} }, 'is empty'],
  [{ kind: 'replace_config', config: {} }, 'would remove every setting'],
])('%j is refused', (fields, why) => {
  expect(whyInvalid(operation(fields), NOW)).toContain(why);
});

test.each<[object]>([
  [{ kind: 'switchover', leader: 'a', candidate: 'b' }],
  [switchover('2026-06-01T12:00:01Z')],
  [switchover('2026-06-01 14:30+02')],
  [switchover('2026-06-01T08:30:00.5-0400')],
  [{ kind: 'failover', candidate: 'b' }],
  [restart({ role: 'primary', timeout: '30s', schedule: '2026-06-02T00:00:00Z' })],
  [{ kind: 'patch_config', changes: { ttl: null } }],
  [{ kind: 'pause' }],
  [{ kind: 'resume' }],
  [{ kind: 'reload', member: 'a' }],
  [{ kind: 'reinitialize', member: 'a', force: true }],
  [{ kind: 'cancel_restart', member: 'a' }],
  [{ kind: 'cancel_switchover' }],
])('%j is sent', (fields) => {
  expect(whyInvalid(operation(fields), NOW)).toBeUndefined();
});
