// The whole program shows a lost primary to a reader that stays, and keeps samples of it.
import { createParser } from 'eventsource-parser';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { samplesDocument } from '../../../src/documents/samples-document.ts';
import { statusDocument } from '../../../src/documents/status-document.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let lab: AppLab;
let closing: AbortController;

beforeEach(async () => {
  closing = new AbortController();
  cluster = await FakeCluster.start();
  lab = await AppLab.start(fileFor([cluster.primary, cluster.replica]));
});

afterEach(async () => {
  closing.abort();
  await lab.app.stop();
  await cluster.stop();
});

interface Message {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Follows in the background. */
async function follow(query: string): Promise<readonly Message[]> {
  const messages: Message[] = [];
  const { body } = await fetch(`${lab.admin}/events${query}`, { signal: closing.signal });
  const parser = createParser({
    onEvent: ({ id, event, data }) => messages.push({ id, name: event, data: JSON.parse(data) }),
  });
  const read = async (): Promise<void> => {
    for await (const chunk of body ?? []) parser.feed(Buffer.from(chunk).toString());
  };
  void read().catch(() => {});
  return messages;
}

function unversioned(answer: Readonly<Record<string, unknown>>): object {
  const { api_version: _, ...document } = answer;
  return document;
}

function statusesIn(messages: readonly Message[]): readonly StatusDocument[] {
  return messages.filter(({ name }) => name === 'status').map(({ data }) => statusDocument.parse(unversioned(data)));
}

test('the loss of the primary and its return are statuses right behind their events', async () => {
  const messages = await follow('?status=1');
  await until('a status', () => statusesIn(messages).length > 0);
  const primaryNow = (): StatusDocument['cluster'] | undefined => statusesIn(messages).at(-1)?.cluster;
  expect(primaryNow()).toMatchObject({ primary: { member: 'pg-1', timeline: 1 }, last_interruption: null });
  cluster.primary.api.set({ role: 'replica', hasLock: false });
  await until('the loss', () => primaryNow()?.primary === null);
  cluster.primary.api.set({ role: 'primary', hasLock: true });
  await until('the return', () => primaryNow()?.primary !== null);

  const lost = messages.findIndex(({ data }) =>
    /^pool write: .*clients (wait|are refused)$/.test(String(data['message'])),
  );
  const [first] = statusesIn(messages.slice(lost));
  const write = first?.pools.find(({ name }) => name === 'write');
  expect(write?.route.kind).not.toBe('open');
  expect(first?.cluster.last_interruption).toMatchObject({ pool: 'write', from: write?.route_since, to: null });
  // In one turn: nothing but events of the same decision is between the event and its status.
  const between = messages.slice(lost).findIndex(({ name }) => name === 'status');
  const told = new Date(String(messages[lost]?.data['time'])).getTime();
  expect(messages.slice(lost, lost + between).every(({ name }) => name === undefined)).toBe(true);
  expect(new Date(write?.route_since ?? 0).getTime()).toBeLessThanOrEqual(told);

  const last = primaryNow();
  // The same member without another one in between is the primary since it first was.
  expect(last?.primary?.since).toBe(statusesIn(messages)[0]?.cluster.primary?.since);
  expect(last?.last_interruption?.text).toMatch(/^pool write had no route for .*; pg-1 serves it again$/);
});

test('a replica that loses its place is a change, too', async () => {
  const messages = await follow('?status=1&limit=0');
  await until('a status', () => statusesIn(messages).length > 0);
  const before = statusesIn(messages).length;
  cluster.replica.api.set({ tags: { noloadbalance: true } });
  await until('a status without the replica', () =>
    statusesIn(messages)
      .slice(before)
      .some(({ members }) => members[1]?.pools['read']?.standing === 'leave'),
  );
});

test('samples begin at the start', async () => {
  const { times, pools, members } = await until('a sample with the members', async () => {
    const document = samplesDocument.parse(unversioned(JSON.parse(await lab.ask('/samples'))));
    return Object.keys(document.members).length === 2 && document;
  });
  expect(Math.abs((times.at(-1) ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  expect(Object.keys(pools)).toEqual(['write', 'read']);
  expect(members['pg-2']?.sessions.at(-1)).toBe(0);
});
