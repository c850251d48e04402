// The example for keepalived in deploy/two-of-them.md, word for word, on two hosts. No member of a cluster is there:
// readiness does not depend on one.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { twoHosts } from '../support/processes/two-hosts.ts';
import type { NetworkSpace, Side } from '../support/processes/two-hosts.ts';
import { findExecutable } from '../support/patroni/availability.ts';
import { monotonicMs, waitUntil } from '../support/waiting/wait.ts';
import { whyNoOwnNetwork } from '../support/processes/own-network.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';

const PAGE = new URL('../../deploy/two-of-them.md', import.meta.url);
const SHARED = '10.0.0.100';
/** A host that would take the address back does so within twice the interval, and three advertisements. */
const SETTLED_MS = 9_000;
const WITHIN_MS = 30_000;

const CONFIG = {
  cluster: {
    discovery: 'static',
    members: [{ name: 'pg-1', api: 'http://127.0.0.1:1', postgres: '127.0.0.1:2' }],
  },
  listeners: [{ address: '*:6432', pool: 'write' }],
  admin: { address: '*:8432' },
  // A client of a cluster without a primary learns so at once.
  hold: { client_timeout: '100ms' },
  shutdown: { grace: '60s', wait: '0s', drain_timeout: '0s' },
};

function whyNot(): string | undefined {
  const programs = { setpriv: 'util-linux', nsenter: 'util-linux', curl: 'curl', pg_isready: 'postgresql-client' };
  for (const [program, name] of Object.entries(programs))
    if (findExecutable(program) === undefined) return `${program}: apt-get install ${name}`;
  const isThere = ['keepalived', '../sbin/keepalived'].some((name) => findExecutable(name) !== undefined);
  return isThere ? whyNoOwnNetwork() : 'keepalived: apt-get install keepalived';
}

/** The file that the page gives for both hosts. */
async function example(): Promise<string> {
  const [, text] = /^```\n(global_defs [^]*?)^```$/m.exec(await readFile(PAGE, 'utf8')) ?? [];
  if (text === undefined) throw new Error('the page has no example');
  return text;
}

describeUnless(whyNot(), 'keepalived', () => {
  it(
    'the address leaves a host whose Pointsman stops or dies, and one without a network',
    { timeout: 180_000 },
    async () => {
      await using ours = new AsyncDisposableStack();
      const directory = ours.adopt(await mkdtemp(join(tmpdir(), 'pointsman-keepalived-')), (path) =>
        rm(path, { recursive: true }),
      );
      const { hosts, client, cable } = ours.use(await twoHosts());
      const startOn = async (host: NetworkSpace): Promise<PointsmanProcess> =>
        ours.adopt(await startPointsman(CONFIG, {}, { within: host.enter }), (pointsman) => pointsman.stop());
      const pointsmen: [PointsmanProcess, PointsmanProcess] = [await startOn(hosts[0]), await startOn(hosts[1])];
      const file = join(directory, 'keepalived.conf');
      await writeFile(file, await example());
      for (const [at, host] of hosts.entries()) {
        const ids = ['pid', 'vrrp_pid'].map((name) => `--${name}=${join(directory, `${at}.${name}`)}`);
        ours.use(host.start('keepalived', '--dont-fork', '--vrrp', `--use-file=${file}`, ...ids));
      }

      const holders = async (): Promise<string> => {
        const shown = await Promise.all(hosts.map((host) => host.run('ip', 'addr', 'show', 'dev', 'eth0')));
        return shown.flatMap((text, at) => (text.includes(`${SHARED}/`) ? [at] : [])).join();
      };
      /** By PostgreSQL's own words: a Pointsman answers, and rejects clients for want of a primary. */
      const isServed = (): Promise<boolean> =>
        client.run('pg_isready', '--timeout=2', `--host=${SHARED}`, '--port=6432').then(
          () => false,
          ({ code }: { code?: unknown }) => code === 1,
        );
      /** Resolves when clients are served there, with the time that it took. */
      const movesTo = async (host: Side): Promise<number> => {
        const since = monotonicMs();
        const isThere = async (): Promise<boolean> => (await holders()) === String(host) && (await isServed());
        await waitUntil(`the address at host ${host}`, isThere, { timeoutMs: WITHIN_MS, explain: holders });
        return Math.round(monotonicMs() - since);
      };

      const held = await waitUntil('a host with the address', async () => /^[01]$/.exec(await holders()) ?? false, {
        timeoutMs: WITHIN_MS,
        explain: async () => pointsmen.map((one) => one.explain()).join('\n'),
      });
      const [one, other] = held[0] === '0' ? ([0, 1] as const) : ([1, 0] as const);
      await movesTo(one);

      await cable(one, 'down');
      const unplugged = await movesTo(other);
      await cable(one, 'up');

      await pointsmen[other].stop();
      const died = await movesTo(one);

      pointsmen[other] = await startOn(hosts[other]);
      const settledMs = monotonicMs() + SETTLED_MS;
      do expect(await holders(), 'it stays').toBe(String(one));
      while (monotonicMs() < settledMs);

      pointsmen[one].signal('SIGTERM');
      const stopped = await movesTo(other);
      const events = pointsmen[one].lines.map(({ event }) => event);
      expect([events.includes('stopping'), events.includes('stopped')], 'it still serves').toEqual([true, false]);
      console.log('keepalived, ms until the address is served by the other host:', { unplugged, died, stopped });
    },
  );
});
