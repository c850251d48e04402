// `check --live` over real sockets: the members by pool, their PostgreSQL ports, and what makes it fail.
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import type { FakeMemberKnobs } from '../../support/fakes/fake-member.ts';
import { listen } from '../../support/fakes/listen.ts';
import { checkConfig } from '../../support/processes/pointsman-process.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A port that accepts, as PostgreSQL does. */
async function aPort(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  closing.push(() => server.close());
  return await listen(server);
}

async function aClosedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
  return port;
}

interface Given {
  readonly name: string;
  readonly port: number;
  readonly knobs: Partial<FakeMemberKnobs>;
}

/** Every member is a seed, so that its ports are allowed. */
async function checked(
  given: readonly Given[],
  more = '',
): Promise<{ code: number | string; out: string; err: string }> {
  const members = await Promise.all(given.map(({ name, knobs }) => FakeMember.start(name, knobs)));
  closing.push(() => Promise.all(members.map((member) => member.stop())));
  const entries = members.map((member, i) => member.entry({ port: given[i]?.port }));
  for (const member of members) member.set({ cluster: { scope: 'demo', members: entries } });
  const seeds = JSON.stringify(members.map(({ url }) => url));
  const pointsman = await checkConfig(`cluster: { seeds: ${seeds} }\n${more}`, '--live');
  closing.push(() => pointsman.stop());
  const code = await pointsman.exited();
  const out = pointsman.lines.map((line) => `${String(line['raw'])}\n`).join('');
  return { code, out, err: pointsman.stderr.join('') };
}

test('a healthy cluster: the pool of each member, exit code 0', async () => {
  const { code, out, err } = await checked([
    { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await aPort(), knobs: { role: 'replica' } },
  ]);
  expect(out).toMatch(/^pg-1 +127\.0\.0\.1:\d+ +accepts +primary +write$/m);
  expect(out).toMatch(/^pg-2 +127\.0\.0\.1:\d+ +accepts +replica +read$/m);
  expect(out).toContain('pool write (/primary): open on pg-1\npool read (/replica?lag=16MB): open on pg-2\n');
  expect([code, err]).toEqual([0, '']);
});

test('no primary: exit code 1', async () => {
  const { code, err } = await checked([{ name: 'pg-2', port: await aPort(), knobs: { role: 'replica' } }]);
  expect(err).toContain('pool write would have no member now');
  expect(code).toBe(1);
});

test('the port of the primary refuses: exit code 1', async () => {
  const { code, out, err } = await checked([
    { name: 'pg-1', port: await aClosedPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await aPort(), knobs: { role: 'replica' } },
  ]);
  expect(out).toMatch(/^pg-1 .* refuses +primary +write$/m);
  expect(err).toMatch(
    /pool write: PostgreSQL of pg-1 at 127\.0\.0\.1:\d+ refuses connections from this host\n1 problem\./,
  );
  expect(code).toBe(1);
});

test('the port of a replica refuses: a warning', async () => {
  const { code, err } = await checked([
    { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await aClosedPort(), knobs: { role: 'replica' } },
  ]);
  expect(err).toMatch(/^warning: PostgreSQL of pg-2 at 127\.0\.0\.1:\d+ refuses connections from this host\n$/);
  expect(code).toBe(0);
});

test('a member in no pool: the reason', async () => {
  const { code, out } = await checked([
    { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } },
    { name: 'pg-2', port: await aPort(), knobs: { role: 'replica', state: 'starting' } },
  ]);
  expect(out.replaceAll(/\s+/g, ' ')).toContain('none: PostgreSQL is not running');
  expect(code).toBe(0);
});

test('one answer is enough, whatever probe.rise says', async () => {
  const primary = { name: 'pg-1', port: await aPort(), knobs: { role: 'primary' } } as const;
  expect(await checked([primary], 'probe: { rise: 3 }\n')).toMatchObject({ code: 0 });
});
