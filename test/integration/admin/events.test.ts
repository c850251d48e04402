// GET /events with real sockets: the stream, its resumption, its limits, its end; and the list.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LiveStatus } from '../../../src/admin/live-status.ts';
import { RecentEvents } from '../../../src/admin/recent-events.ts';
import { createStreams } from '../../../src/admin/streams.ts';
import type { Streams } from '../../../src/admin/streams.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { aPolicy, aSnapshot } from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';
import { until } from '../../support/waiting/until.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';

const TOKEN = '0123456789abcdef-secret';
let events: RecentEvents;
let ids: EventIds;
let liveStatus: LiveStatus;
let admin: Admin;
let streams: Streams;
let port: number;
const sockets: Socket[] = [];

beforeEach(async () => {
  ids = new EventIds('r1');
  events = new RecentEvents({ ids, wallClock: () => 0 });
  const policy = aPolicy();
  const snapshot = aSnapshot(policy);
  const inputs = { ...STATUS_BASICS, snapshot, pools: policy.pools, counts: new Map() };
  const table = decideRoutes(policy, snapshot, 0);
  liveStatus = new LiveStatus({ clock: systemClock, events, read: () => buildStatus({ ...inputs, now: 0, table }) });
  streams = createStreams();
  const known = { kind: 'token', value: TOKEN } as const;
  const eventNames = ['route_changed', 'x', 'y', 'z'];
  admin = createAdmin(adminOptions({ streams, events, eventNames, liveStatus, token: () => Promise.resolve(known) }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  ({ port } = listening.address);
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await admin.close();
});

function add(text: string, fields: Readonly<Record<string, unknown>> = {}, level: 'info' | 'warn' = 'info'): void {
  events.add({ level, fields: { event: 'x', ...fields }, text, number: ids.next() });
}

interface Reader {
  readonly socket: Socket;
  readonly text: () => string;
  /** The messages of the events so far. */
  readonly messages: () => string[];
}

function read(query = '', headers = ''): Reader {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.write(`GET /events${query} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`);
  const messages = (): string[] => [...text.matchAll(/"message":"([^"]*)"/g)].map(([, message = '']) => message);
  return { socket, text: () => text, messages };
}

async function list(query = ''): Promise<Readonly<Record<string, unknown>>> {
  const headers = { accept: 'application/json' };
  const body: unknown = await (await fetch(`http://127.0.0.1:${port}/events${query}`, { headers })).json();
  return Object(body);
}

describe('the stream', () => {
  test('begins with recent events and goes on with new ones', async () => {
    add('before');
    const reader = read();
    await until('the first', () => reader.messages().length === 1);
    add('after');
    await until('the second', () => reader.messages().length === 2);
    expect(reader.messages()).toEqual(['before', 'after']);
    expect(reader.text()).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\n/);
    expect(reader.text()).toContain('id: r1-2\ndata: {"api_version":1,"id":"r1-2",');
  });

  test.each([
    ['?after=r1-2', ''],
    ['', 'Last-Event-ID: r1-2\r\n'],
    ['?after=r1-1', 'Last-Event-ID: r1-2\r\n'],
  ])('continues after an id: %s %s', async (query, header) => {
    for (const text of ['one', 'two', 'three']) add(text);
    const reader = read(query, header);
    await until('the rest', () => reader.messages().length > 0);
    expect(reader.messages()).toEqual(['three']);
    expect(reader.text()).not.toContain('event: gap');
  });

  test('tells a gap first, if the id is of another run', async () => {
    add('one');
    const reader = read('?after=r0-7');
    await until('the event', () => reader.messages().includes('one'));
    expect(reader.text()).toMatch(/event: gap\ndata: \{"api_version":1,"why":"other_run","message":"/);
  });

  test.each([
    ['?pool=write', ['a']],
    ['?member=pg-1', ['b', 'c']],
    ['?event=y,z', ['d']],
    ['?level=warn', ['e']],
    ['?limit=1', ['e']],
  ])('%s', async (query, wanted) => {
    const reader = read(query);
    add('a', { pool: 'write' });
    add('b', { member: 'pg-1' });
    add('c', { members: ['pg-1', 'pg-2'] });
    add('d', { event: 'y' });
    add('e', {}, 'warn');
    expect((await list(query))['events']).toMatchObject(wanted.map((message) => ({ message })));
    await until('the wanted events', () => reader.messages().includes(wanted.at(-1) ?? ''));
    if (query !== '?limit=1') expect(reader.messages()).toEqual(wanted);
  });

  test('HEAD gets the head alone', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/events`, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  });

  test('at most 12 at a time without the token, which leaves 4 for others; a closed one makes room', async () => {
    const readers = Array.from({ length: 12 }, () => read());
    await until('all streams', () => readers.every(({ text }) => text().includes('retry:')));
    const late = read();
    await until('the refusal', () => late.text().includes('503'));
    expect(late.text()).toContain('12 event streams are open');
    expect(streams.size()).toBe(12);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    readers[0]?.socket.destroy();
    await until('room for another one', async () => {
      const next = read();
      await until('an answer', () => next.text().includes('\r\n\r\n'));
      return next.text().includes('200 OK');
    });
  });

  test('a reader that does not read is dropped; the others go on', async () => {
    const [slow, other] = [read(), read()];
    await until('both streams', () => [slow, other].every(({ text }) => text().includes('retry:')));
    slow.socket.pause();
    const closed = new Promise((resolve) => slow.socket.once('close', resolve));
    let sent = 0;
    await until('the loss of the slow reader', () => {
      for (let number = 0; number < 100; number += 1) add(`${(sent += 1)} ${'x'.repeat(2000)}`);
      return sent >= 12_000;
    });
    add('end');
    await until('the end at the other reader', () => other.messages().at(-1) === 'end');
    slow.socket.resume();
    await closed;
    expect(slow.messages().at(-1)).not.toBe('end');
  });

  test('ends cleanly when Pointsman stops', async () => {
    const reader = read();
    await until('the stream', () => reader.text().includes('retry:'));
    const ended = new Promise((resolve) => reader.socket.once('end', resolve));
    add('last');
    await admin.close();
    await ended;
    expect(reader.messages()).toEqual(['last']);
    // The last chunk of a complete answer.
    expect(reader.text().endsWith('\r\n0\r\n\r\n')).toBe(true);
  });
});

describe('with the status', () => {
  test('it comes behind the events that were before, then in the turn of each event', async () => {
    add('before');
    const reader = read('?status=1');
    await until('the first status', () => reader.text().includes('event: status'));
    add('after');
    await until('the next status', () => reader.text().includes('id: r1-2\nevent: status\n'));
    const order = [...reader.text().matchAll(/^id: r1-(\d)\n(event: status|data)/gm)];
    expect(order.slice(0, 4).map(([, id, kind]) => [id, kind])).toEqual([
      ['1', 'data'],
      ['1', 'event: status'],
      ['2', 'data'],
      ['2', 'event: status'],
    ]);
  });

  test('it comes again without an event', async () => {
    const reader = read('?status=1&limit=0');
    await until('two of them', () => reader.text().split('event: status').length > 2);
    expect(reader.messages()).toEqual([]);
  });

  test('readers without it get events alone', async () => {
    const [other, reader] = [read(), read('?status=1')];
    add('one');
    await until('a status', () => reader.text().includes('id: r1-1\nevent: status'));
    await until('the event', () => other.messages().includes('one'));
    expect(other.text()).not.toContain('status');
  });

  test('events of an hour ago that come at once do not make a reader slow', async () => {
    for (let number = 1; number <= 700; number += 1) add(`${number} ${'x'.repeat(2000)}`);
    const reader = read('?status=1&after=r1-0');
    await until('the status behind them', () => reader.text().includes('event: status'));
    expect(reader.messages().length).toBe(700);
  });

  test.each([
    ['?status=1&format=json', 'query parameter status: only for a stream; GET /status has the document alone'],
    ['?status=yes', expect.stringContaining('query parameter status')],
  ])('%s', async (query, error) => {
    expect(await list(query)).toMatchObject({ error });
  });
});

describe('the list', () => {
  test('has the newest, and the id to continue with', async () => {
    for (const text of ['one', 'two', 'three']) add(text);
    expect(await list('?limit=2')).toMatchObject({
      api_version: 1,
      events: [{ message: 'two' }, { message: 'three' }],
      last_id: 'r1-3',
      gap: null,
    });
    expect(await list('?after=r1-3')).toMatchObject({ events: [], last_id: 'r1-3' });
    expect(await list('?after=r1-0&limit=2')).toMatchObject({
      events: [{ message: 'one' }, { message: 'two' }],
      last_id: 'r1-2',
    });
    expect(await list('?after=r0-1')).toMatchObject({ gap: { why: 'other_run' } });
  });

  test('a wrong query names the parameter', async () => {
    expect(await list('?limit=x')).toMatchObject({ error: expect.stringContaining('query parameter limit') });
    expect(await list('?pol=write')).toMatchObject({ error: 'unknown query parameter pol: did you mean pool?' });
    expect(await list('?pool=write&pool=read')).toMatchObject({ error: 'query parameter pool is given twice' });
  });

  test.each(['', '&format=stream'])('a name that no event has is an error with the right names%s', async (format) => {
    expect(await list(`?event=x,rout_changed${format}`)).toMatchObject({
      error: 'unknown event rout_changed: did you mean route_changed? The events are route_changed, x, y, z',
    });
    expect(await list('?event=x,%20route_changed')).toMatchObject({ events: [] });
  });
});

test.each([
  ['without the token', '', ['a']],
  ['with a wrong token', `Authorization: Bearer ${TOKEN}x\r\n`, ['a']],
  ['with the token', `Authorization: Bearer ${TOKEN}\r\n`, ['a', 'b']],
])('events of sessions name clients: %s', async (_, header, wanted) => {
  add('b', { session: 7 });
  add('a');
  const reader = read('', header);
  await until('the recent ones', () => reader.messages().includes('a'));
  expect(reader.messages().toSorted()).toEqual(wanted);
  add('b', { session: 8 });
  add('z');
  await until('the last', () => reader.messages().includes('z'));
  expect(reader.messages().filter((message) => message === 'b').length).toBe(2 * (wanted.length - 1));
});
