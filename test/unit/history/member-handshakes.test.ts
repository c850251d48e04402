import { expect, test } from 'vitest';
import { MemberHandshakes } from '../../../src/history/member-handshakes.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';

const expired = { kind: 'member_tls_failed', member: 'pg-1', reason: 'expired', why: 'it has expired' } as const;
const verified = { kind: 'member_tls_verified', member: 'pg-1', expiresAt: 9_000 } as const;

function after(...events: readonly ReportedEvent[]) {
  const handshakes = new MemberHandshakes();
  events.forEach((event, index) => handshakes.take(event, 1_000 * (index + 1)));
  return Object.fromEntries(handshakes.all());
}

test('failures count from the first one until a handshake succeeds; the last verified certificate stays known', () => {
  expect(after(verified, { ...expired, reason: 'closed' }, expired)).toEqual({
    'pg-1': {
      expiresAt: 9_000,
      failing: { since: 2_000, at: 3_000, count: 2, reason: 'expired', why: 'it has expired' },
    },
  });
  expect(after(expired, expired, { ...verified, expiresAt: 7_000 })).toEqual({
    'pg-1': { expiresAt: 7_000, failing: undefined },
  });
});

test('each member has its own, and takes it along when it leaves the cluster', () => {
  const left = { kind: 'members_changed', added: [], removed: ['pg-1'] } as const;
  expect(after(expired, { ...verified, member: 'pg-2' }, left)).toEqual({
    'pg-2': { expiresAt: 9_000, failing: undefined },
  });
});

test('a member that refuses the certificate of Pointsman does so until it takes a session', () => {
  const refused = { ...expired, reason: 'own_certificate' } as const;
  const opened = { kind: 'session_opened', pool: 'write', session: 7, client: '10.0.0.1:5', member: 'pg-1' } as const;
  expect(after(verified, refused, verified)['pg-1']?.failing).toMatchObject({ count: 1, reason: 'own_certificate' });
  expect(after(verified, refused, { ...opened, tls: 'passthrough' })['pg-1']?.failing).toMatchObject({ count: 1 });
  expect(after(verified, refused, verified, opened)['pg-1']?.failing).toBeUndefined();
  expect(after(expired, opened)['pg-1']?.failing).toMatchObject({ reason: 'expired' });
});

test('the certificate of Pointsman is that of the newest handshake', () => {
  const handshakes = new MemberHandshakes();
  expect(handshakes.ownExpiresAt()).toBeUndefined();
  for (const ownExpiresAt of [5_000, 6_000]) handshakes.take({ ...verified, ownExpiresAt }, 1);
  expect(handshakes.ownExpiresAt()).toBe(6_000);
});
