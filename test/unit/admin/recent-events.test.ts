// The buffer of recent events: its ids, its limit and what a reader misses.
import { beforeEach, expect, test } from 'vitest';
import { RecentEvents } from '../../../src/admin/recent-events.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';

let ids = new EventIds('r1');
beforeEach(() => {
  ids = new EventIds('r1');
});

function filled(count: number, fields: Readonly<Record<string, unknown>> = {}): RecentEvents {
  ids = new EventIds('r1');
  const events = new RecentEvents({ ids, wallClock: () => 0 });
  for (let number = 1; number <= count; number += 1) {
    events.add({ level: 'info', fields: { event: 'ready', ...fields }, text: `number ${number}`, number: ids.next() });
  }
  return events;
}

const messages = (events: RecentEvents, after?: string): string[] =>
  events.after(after).events.map(({ message }) => message);

test('an event has an id of its run, its time, and the fields of its line', () => {
  const events = new RecentEvents({ ids, wallClock: () => 0 });
  events.add({
    level: 'warn',
    fields: { event: 'x', pool: 'write', err: new Error('broken') },
    text: 'hello',
    number: ids.next(),
  });
  expect(events.after(undefined)).toEqual({
    events: [
      {
        id: 'r1-1',
        time: '1970-01-01T00:00:00.000Z',
        event: 'x',
        level: 'warn',
        message: 'hello',
        fields: { pool: 'write', err: 'broken' },
      },
    ],
    gap: undefined,
  });
});

test('a reader continues after its last event', () => {
  expect(messages(filled(3), 'r1-2')).toEqual(['number 3']);
  expect(filled(3).after('r1-3')).toEqual({ events: [], gap: undefined });
  expect(filled(0).after('r1-0')).toEqual({ events: [], gap: undefined });
});

test('old events are dropped; a reader whose next event was dropped learns of the gap', () => {
  const events = filled(1000);
  expect(events.after('r1-232').gap).toBeUndefined();
  expect(messages(events, 'r1-232').length).toBe(768);
  expect(events.after('r1-231')).toMatchObject({ gap: { why: 'buffer_overrun' } });
});

test('events of many sessions do not push out the others', () => {
  const events = filled(1);
  for (let session = 1; session <= 5000; session += 1) {
    events.add({
      level: 'info',
      fields: { event: 'session_closed', session },
      text: `session ${session}`,
      number: ids.next(),
    });
  }
  events.add({ level: 'info', fields: { event: 'ready' }, text: 'last', number: ids.next() });
  const kept = messages(events);
  expect([kept[0], kept.at(-1), kept.length]).toEqual(['number 1', 'last', 258]);
});

test.each(['r2-1', 'r1-4', 'r1-', 'nonsense', ''])(
  'the id %j is of another run: a gap, and all that there is',
  (id) => {
    expect(filled(3).after(id)).toMatchObject({ events: [{}, {}, {}], gap: { why: 'other_run' } });
  },
);

test('a listener gets every new event until it ends', () => {
  const events = filled(1);
  const got: string[] = [];
  const end = events.subscribe(({ id }) => got.push(id));
  events.add({ level: 'info', fields: {}, text: '', number: ids.next() });
  end();
  events.add({ level: 'info', fields: {}, text: '', number: ids.next() });
  expect(got).toEqual(['r1-2']);
});
