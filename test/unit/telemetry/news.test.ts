// TLS to members in the log: a fault is told when it begins, not with each connection that meets it.
import { expect, test } from 'vitest';
import { EventIds } from '../../../src/reports/event-ids.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createRecorder } from '../../../src/telemetry/record.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const failed = { kind: 'member_tls_failed', member: 'pg-1', reason: 'expired', why: 'why' } as const;
const verified = { kind: 'member_tls_verified', member: 'pg-1', expiresAt: 0 } as const;

function start() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const { log } = createLog({ level: 'info', format: 'json', isTerminal: false, destination });
  const clock = new ManualClock();
  const { record } = createRecorder({ log, clock, ids: new EventIds('r1'), count: () => {} });
  const told = () => lines.map(({ level, reason = '-', msg }) => [level, reason, msg].join(' '));
  return { clock, record, told };
}

test('a line when a fault begins, becomes another one, or is over, and for another certificate', async () => {
  const { clock, record, told } = start();
  const events: readonly ReportedEvent[] = [
    verified,
    verified,
    failed,
    { ...failed, member: 'pg-2' },
    failed,
    { ...failed, reason: 'revoked' },
    verified,
    { ...verified, expiresAt: 86_400_000 },
  ];
  for (const event of events) {
    record(event);
    await clock.advance(2_000);
  }
  const isValid = 'pg-1: TLS, its certificate is valid until 1970-01-0';
  expect(told()).toEqual([
    `info - ${isValid}1T00:00:00.000Z`,
    'warn expired pg-1: TLS failed: why',
    'warn expired pg-2: TLS failed: why',
    'warn revoked pg-1: TLS failed: why',
    `info - ${isValid}1T00:00:00.000Z`,
    `info - ${isValid}2T00:00:00.000Z`,
  ]);
});

test('a member whose TLS fails and works by turns gives two lines a second', async () => {
  const { clock, record, told } = start();
  for (let count = 0; count < 100; count += 1) for (const event of [failed, verified]) record(event);
  await clock.advance(1_000);
  expect(told().slice(2)).toEqual([
    'warn expired pg-1: TLS failed 99 more times within 1 s: expired',
    'info - pg-1: TLS worked again 99 more times within 1 s',
  ]);
});

test('a member that comes back to the cluster is told anew', async () => {
  const { clock, record, told } = start();
  for (const event of [failed, { kind: 'members_changed', added: [], removed: ['pg-1'] } as const, failed]) {
    record(event);
    await clock.advance(2_000);
  }
  expect(told().filter((line) => line.startsWith('warn'))).toHaveLength(2);
});

test('a member that refuses the certificate of Pointsman has shown its own before, each time', async () => {
  const { clock, record, told } = start();
  const refused = { ...failed, reason: 'own_certificate' } as const;
  const opened = { kind: 'session_opened', pool: 'write', session: 7, client: '10.0.0.1:5', member: 'pg-1' } as const;
  for (const event of [verified, refused, verified, refused, verified, opened, refused]) {
    record(event);
    await clock.advance(2_000);
  }
  expect(told().filter((line) => line.startsWith('warn'))).toHaveLength(2);
  expect(told().filter((line) => line.startsWith('info'))).toHaveLength(1);
});
