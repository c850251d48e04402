// The status document, the metrics and the routing agree after every change. Each is consistent in itself at any moment
// of a cluster that flaps.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { AppLab, fileFor, startFakeServer, stopServers } from '../../support/labs/app-lab.ts';
import type { FakeServer } from '../../support/labs/app-lab.ts';
import { echoSession } from '../../support/sockets/echo-session.ts';
import { until } from '../../support/waiting/until.ts';
import { withoutScope } from '../../support/values/samples.ts';

const PROBE = { interval: '50ms', timeout: '1s', urgent: { interval: '20ms', for: '30s' } };
const CHANGES = 8;

const status = z.object({
  members: z.array(z.object({ name: z.string(), pools: z.record(z.string(), z.object({ standing: z.string() })) })),
  pools: z.array(
    z.object({
      name: z.string(),
      route: z.object({ kind: z.string(), members: z.array(z.object({ name: z.string() })).optional() }),
      sessions: z.object({ by_member: z.record(z.string(), z.number()) }),
    }),
  ),
});

let lab: AppLab;
const servers: FakeServer[] = [];

beforeEach(async () => {
  servers.push(await startFakeServer('pg-1', { role: 'primary' }), await startFakeServer('pg-2'));
  lab = await AppLab.start(fileFor(servers, { probe: PROBE, pools: { read: { fallback: 'none' } } }));
});

afterEach(async () => {
  await lab.app.stop();
  await stopServers(servers.splice(0));
});

interface Picture {
  /** `hold`, `closed`, or the open members. */
  readonly route: string;
  /** Members whose standing is open. */
  readonly open: readonly string[];
  readonly sessions: Readonly<Record<string, number>>;
}

async function shown(): Promise<Picture> {
  const { members, pools } = status.parse(JSON.parse(await lab.ask('/status')));
  const write = pools.find(({ name }) => name === 'write');
  if (write === undefined) throw new Error('no pool write');
  const route = write.route.members?.map(({ name }) => name).join() ?? write.route.kind;
  const open = members.flatMap(({ name, pools: places }) => (places['write']?.standing === 'open' ? [name] : []));
  return { route, open, sessions: write.sessions.by_member };
}

async function measured(): Promise<Picture> {
  const lines = withoutScope(await lab.ask('/metrics')).split('\n');
  const holds = (name: string) => lines.some((line) => line === `${name} 1`);
  const open = ['pg-1', 'pg-2'].filter((member) =>
    holds(`pointsman_member_standing{pool="write",member="${member}",standing="open"}`),
  );
  const kind =
    ['open', 'hold', 'closed'].find((one) => holds(`pointsman_pool_route{pool="write",route="${one}"}`)) ?? '';
  const sessions = lines.flatMap((line) => {
    const [, member, count] = /^pointsman_member_sessions\{pool="write",member="([^"]+)"\} (\d+)$/.exec(line) ?? [];
    return member === undefined ? [] : [[member, Number(count)] as const];
  });
  return { route: kind === 'open' ? open.join() : kind, open, sessions: Object.fromEntries(sessions) };
}

/** Two requests; a route may change between them. */
async function both(): Promise<readonly [Picture, Picture]> {
  return [await shown(), await measured()];
}

test('G21: after every change of primary the status, the metrics and a new session agree', async () => {
  for (let change = 1; change <= CHANGES; change += 1) {
    const next = change % 2;
    for (const [index, { api }] of servers.entries()) {
      const isPrimary = index === next;
      api.set({ role: isPrimary ? 'primary' : 'replica', hasLock: isPrimary, timeline: 1 + change });
    }
    const name = `pg-${next + 1}`;
    const isTold = () => lab.said('route_changed').at(-1);
    const writes = () => lab.said('route_changed').filter(({ pool }) => pool === 'write');
    await until(
      `${name} told open`,
      () => isTold() !== undefined && String(writes().at(-1)?.['members']).includes(name),
    );
    const client = await echoSession(lab.address('write'));
    const [said, counted] = await both();
    expect(said).toMatchObject({ route: name, open: [name] });
    expect(said.sessions[name]).toBe(1);
    expect(counted).toMatchObject({ route: name, open: [name] });
    expect(counted.sessions[name]).toBe(1);
    // A probe of the port sends no byte; it runs when the API is late.
    const spoken = servers[next]?.postgres.connections.findLast((connection) => connection.received().length > 0);
    expect(spoken?.received().length).toBe(client.received().length);
    expect(spoken?.isClosed).toBe(false);
    client.socket.resetAndDestroy();
    await until('its end', () => spoken?.isClosed);
  }
});

test('G21: while routes flap each answer agrees with itself: the open members are those of the route', async () => {
  let turn = 0;
  const flap = setInterval(() => {
    turn += 1;
    for (const [index, { api }] of servers.entries()) {
      const isPrimary = index === turn % 3;
      api.set({ role: isPrimary ? 'primary' : 'replica', hasLock: isPrimary });
    }
  }, 30);
  try {
    const seen = new Set<string>();
    const kinds = () => seen.size === 3;
    for (let round = 0; !kinds() && round < 500; round += 1) {
      for (const { route, open } of await both()) {
        seen.add(route);
        expect(open.join()).toBe(route === 'hold' ? '' : route);
      }
    }
    expect([...seen].toSorted()).toEqual(['hold', 'pg-1', 'pg-2']);
  } finally {
    clearInterval(flap);
  }
});
