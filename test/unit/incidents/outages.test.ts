// When an outage is summed up: not while its clients still wait, once, and again at the end if something has changed.
import { expect, test } from 'vitest';
import type { FlightRecorder } from '../../../src/incidents/recorder.ts';
import { WaitingClients, isHold } from '../../../src/history/waiting-clients.ts';
import { Outages } from '../../../src/incidents/outages.ts';
import type { IncidentDocument } from '../../../src/incidents/schema.ts';
import type { OutageEvent, ReportedEvent } from '../../../src/reports/events.ts';
import { AN_OUTAGE } from '../../support/values/an-outage.ts';

function started() {
  const told: OutageEvent[] = [];
  const listeners: Parameters<FlightRecorder['subscribe']>[0][] = [];
  let document: IncidentDocument | undefined = AN_OUTAGE;
  const waiting = new WaitingClients();
  const outages = new Outages({
    waiting,
    incidents: {
      currentId: () => document?.id,
      get: () => Promise.resolve(document),
      subscribe: (listener) => {
        listeners.push(listener);
        return () => {};
      },
    },
    tell: (event) => void told.push(event),
  });
  return {
    told,
    be: (next: IncidentDocument | undefined) => void (document = next),
    settle: (settled: IncidentDocument) => listeners.forEach((listener) => listener('settled', settled)),
    take: async (...events: readonly ReportedEvent[]) => {
      for (const event of events) {
        if (isHold(event)) waiting.take(event);
        outages.take(event);
      }
      await new Promise(setImmediate);
    },
  };
}

const LOST: ReportedEvent = {
  kind: 'route_changed',
  pool: 'write',
  from: undefined,
  to: { kind: 'hold', cause: 'no_member' },
};
const BACK: ReportedEvent = {
  kind: 'route_changed',
  pool: 'write',
  from: undefined,
  to: {
    kind: 'open',
    targets: [{ member: 'pg-2', address: { host: '10.0.0.2', port: 5432 } }],
    fallback: undefined,
  },
};
const WAITS: ReportedEvent = { kind: 'hold_started', pool: 'write', session: 1, cause: 'no_member' };
const SERVED: ReportedEvent = { kind: 'hold_ended', pool: 'write', session: 1, outcome: 'released', waitedMs: 3900 };

test('at the return of the route, when the last client has left the queue', async () => {
  const { take, told } = started();
  await take(LOST, WAITS, { ...WAITS, session: 2 }, BACK, { ...SERVED, session: 2 });
  expect(told).toEqual([]);
  await take(SERVED);
  expect(told.map(({ isFinal, held }) => [isFinal, held])).toEqual([[false, 17]]);
  await take(WAITS, SERVED);
  expect(told).toHaveLength(1);
});

test('without a waiting client at once; not while the route is lost again', async () => {
  const { take, told } = started();
  await take(LOST, BACK);
  expect(told).toHaveLength(1);
  await take(LOST, WAITS, BACK, LOST, SERVED);
  expect(told).toHaveLength(1);
});

test('the first route of a run, and a loss without an incident, are no outages', async () => {
  const { take, told, be } = started();
  await take(BACK);
  be(undefined);
  await take(LOST, BACK);
  expect(told).toEqual([]);
});

test('again when the incident settles, if its numbers have changed', async () => {
  const { take, told, settle } = started();
  await take(LOST, BACK);
  settle(AN_OUTAGE);
  expect(told).toHaveLength(1);
  const [noRoute, ...others] = AN_OUTAGE.findings;
  if (noRoute?.finding !== 'no_route') throw new Error('no finding');
  settle({ ...AN_OUTAGE, findings: [{ ...noRoute, seconds: 4.4 }, ...others] });
  expect(told.map(({ isFinal, durationMs }) => [isFinal, durationMs])).toEqual([
    [false, 3900],
    [true, 4400],
  ]);
  expect(told.map(({ text }) => text.endsWith(' (corrected)'))).toEqual([false, true]);
  settle({ ...AN_OUTAGE, id: '2026-11-22-2' });
  expect(told.map(({ incident }) => incident)).toEqual(['2026-11-22-1', '2026-11-22-1', '2026-11-22-2']);
});
