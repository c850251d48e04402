// The status for readers that stay: when its messages come, and how often one is made.
import { expect, test } from 'vitest';
import { LiveStatus } from '../../../src/admin/live-status.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';
import { RecentEvents } from '../../../src/admin/recent-events.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import { aPolicy, aSnapshot } from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const policy = aPolicy();

class Lab {
  readonly clock = new ManualClock();
  readonly ids = new EventIds('r1');
  readonly events = new RecentEvents({ ids: this.ids, wallClock: () => 0 });
  made = 0;
  isBroken = false;
  readonly live = new LiveStatus({
    clock: this.clock,
    events: this.events,
    read: () => {
      this.made += 1;
      if (this.isBroken) throw new Error('broken\nbadly');
      const now = this.clock.now();
      const snapshot = aSnapshot(policy);
      const table = decideRoutes(policy, snapshot, now);
      return buildStatus({ ...STATUS_BASICS, now, table, snapshot, pools: policy.pools, counts: new Map() });
    },
  });

  event(fields: Readonly<Record<string, unknown>> = {}): void {
    this.events.add({ number: this.ids.next(), level: 'info', fields: { event: 'x', ...fields }, text: '' });
  }
}

function aReader({ live }: Lab) {
  const messages: string[] = [];
  const { first, end } = live.follow((message) => messages.push(message));
  messages.push(first);
  return { messages, end };
}

const turn = (): Promise<void> => Promise.resolve();

test('a message is the whole document, with the id of the newest event', () => {
  const lab = new Lab();
  lab.event();
  const [first = ''] = aReader(lab).messages;
  const [, data = ''] = /^id: r1-1\nevent: status\ndata: (.*)\n\n$/.exec(first) ?? [];
  expect(JSON.parse(data)).toMatchObject({ api_version: 1, version: '0', cluster: { primary: null } });
});

test('once a second, made once for all readers', async () => {
  const lab = new Lab();
  const readers = [aReader(lab), aReader(lab), aReader(lab)];
  expect(lab.made).toBe(1);
  await lab.clock.advance(3000);
  expect(lab.made).toBe(4);
  expect(readers.map(({ messages }) => messages.length)).toEqual([4, 4, 4]);
});

test('without a reader nothing is made and no timer is left', async () => {
  const lab = new Lab();
  lab.event();
  lab.live.changed();
  await lab.clock.advance(10_000);
  expect(lab.made).toBe(0);
  const { messages, end } = aReader(lab);
  end();
  end();
  lab.event();
  await lab.clock.advance(10_000);
  expect([lab.made, messages.length, lab.clock.pending()]).toEqual([1, 1, 0]);
});

test('a reader that comes back later gets a new document', async () => {
  const lab = new Lab();
  aReader(lab).end();
  await lab.clock.advance(100);
  expect(aReader(lab).messages[0]).toContain('"uptime_seconds":1.1,');
});

test('in the turn of a change; several changes in one turn are one message', async () => {
  const lab = new Lab();
  const { messages } = aReader(lab);
  lab.event();
  lab.event();
  lab.live.changed();
  expect(messages.length).toBe(1);
  await turn();
  expect(messages.length).toBe(2);
  expect(messages[1]).toContain('id: r1-2\n');
});

test('a burst of changes is a few messages, and the last one has the last change', async () => {
  const lab = new Lab();
  const { messages } = aReader(lab);
  for (let number = 0; number < 200; number += 1) {
    lab.event();
    await lab.clock.advance(1);
  }
  await lab.clock.advance(50);
  expect(messages.length).toBeLessThan(8);
  expect(messages.at(-1)).toContain('id: r1-200\n');
  await lab.clock.advance(1000);
  expect(messages.length).toBeLessThan(9);
});

test('events of sessions are no change', async () => {
  const lab = new Lab();
  const { messages } = aReader(lab);
  for (let session = 0; session < 100; session += 1) lab.event({ session });
  await turn();
  expect(messages.length).toBe(1);
});

test('a fault in the document is a comment, and the next message comes', async () => {
  const lab = new Lab();
  lab.isBroken = true;
  const { messages } = aReader(lab);
  expect(messages[0]).toMatch(/^: no status: Error: broken.*badly\n\n$/);
  lab.isBroken = false;
  await lab.clock.advance(1000);
  expect(messages[1]).toContain('event: status\n');
});
