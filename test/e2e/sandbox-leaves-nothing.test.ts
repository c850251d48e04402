// A sandbox leaves nothing on the machine: after a lost primary, a heal and a stop, and after SIGKILL of its process.
// POINTSMAN_ROUNDS=100 makes a long run of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { missingForSandbox } from '../support/runner/sandbox-availability.ts';
import { listening, processesOf, segments } from '../support/processes/leftovers.ts';
import { waitUntil } from '../support/waiting/wait.ts';
import { rounds } from '../support/runner/ci.ts';
import { describeUnless, itUnless } from '../support/runner/unless-missing.ts';

const ROUNDS = Number(process.env['POINTSMAN_ROUNDS'] ?? rounds(2, 3));
const ROUND_TIMEOUT_MS = 60_000;
/** A lock that expires soon, so that the test does not wait. */
const HASTY = { ttl: 2, loop_wait: 0.5, retry_timeout: 0.5 };
const NO_PROC = process.platform === 'linux' ? undefined : 'Linux, whose /proc tells of processes';
const ACTION_TIMEOUT_MS = 20_000;

const endpoints = z.object({
  directory: z.string(),
  members: z.array(z.object({ port: z.number(), api: z.string() })),
});

/** The files, ports and processes of a running sandbox. */
interface Footprint {
  readonly directory: string;
  readonly ports: readonly number[];
  readonly pids: Set<number>;
  /** Ids of segments from before. Their creators may be dead, and a process of the sandbox may have such a pid now. */
  readonly others: ReadonlySet<string>;
}

describeUnless(missingForSandbox, 'leftovers, on the sandbox', () => {
  let temporary = '';
  beforeAll(() => {
    temporary = mkdtempSync(join(tmpdir(), 'pointsman-leftovers-'));
    // The user of the server process needs access.
    chmodSync(temporary, 0o755);
    vi.stubEnv('TMPDIR', temporary);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(temporary, { recursive: true, force: true });
  });

  it(`leaves nothing after kill, heal, stop, ${ROUNDS} times`, { timeout: ROUNDS * ROUND_TIMEOUT_MS }, async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const others = segmentIds();
      const sandbox = await startSandbox({ config: HASTY });
      const footprint = footprintOf(sandbox, others);
      try {
        await expectFootprint(footprint);
        await replacePrimary(sandbox);
        note(footprint);
        await expectFootprint(footprint);
      } finally {
        await sandbox.stop();
      }
      await expectNothing(footprint, `round ${round}`);
    }
  });

  itUnless(
    NO_PROC,
    'leaves nothing after SIGKILL of its process, its branches included',
    async () => {
      const start = new URL('../../src/sandbox/start-sandbox.ts', import.meta.url).href;
      const script = `const { startSandbox } = await import(${JSON.stringify(start)});
      const { directory, members, branches } = await startSandbox({ branches: true });
      const { storageUrl, tenant, rootTimeline } = branches;
      const body = JSON.stringify({ new_timeline_id: 'a'.repeat(32), ancestor_timeline_id: rootTimeline });
      const headers = { 'content-type': 'application/json' };
      const url = storageUrl + '/v1/tenant/' + tenant + '/timeline/';
      while ((await fetch(url, { method: 'POST', headers, body })).status === 503);
      const [{ port }] = branches.timelines().filter(({ id }) => id !== rootTimeline);
      const servers = [...members, { port, api: storageUrl }];
      console.log(JSON.stringify({ directory, members: servers }));`;
      const others = segmentIds();
      const runner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = await once(createInterface({ input: runner.stdout }), 'line');
      const footprint = footprintOf(endpoints.parse(JSON.parse(String(line))), others);
      await expectFootprint(footprint, 4);
      runner.kill('SIGKILL');
      const isGone = () => Promise.resolve(processesOf(footprint.directory).length === 0);
      await waitUntil('its processes gone', isGone, { timeoutMs: ACTION_TIMEOUT_MS });
      await expectNothing(footprint, 'after SIGKILL');
    },
    ROUND_TIMEOUT_MS,
  );

  /** Proves that the later checks for leftovers can find something. */
  async function expectFootprint(footprint: Footprint, servers = 3): Promise<void> {
    const { directory, ports } = footprint;
    expect(readdirSync(temporary)).not.toEqual([]);
    expect(await listening(ports)).toEqual(ports);
    if (NO_PROC !== undefined) return;
    expect(processesOf(directory).length).toBeGreaterThanOrEqual(servers);
    expect(segmentsOf(footprint)).toHaveLength(servers);
  }

  async function expectNothing(footprint: Footprint, when: string): Promise<void> {
    const { directory, ports } = footprint;
    expect(processesOf(directory), when).toEqual([]);
    expect(await listening(ports), when).toEqual([]);
    expect(segmentsOf(footprint), when).toEqual([]);
    expect(readdirSync(temporary), when).toEqual([]);
  }
});

function footprintOf(
  { directory, members }: z.infer<typeof endpoints> | Sandbox,
  others: ReadonlySet<string>,
): Footprint {
  const ports = members.flatMap(({ port, api }) => [port, Number(new URL(api).port)]);
  const footprint = { directory, ports, pids: new Set<number>(), others };
  note(footprint);
  return footprint;
}

function segmentIds(): ReadonlySet<string> {
  return new Set(segments().map(({ id }) => id));
}

function segmentsOf({ pids, others }: Footprint): readonly string[] {
  const made = segments().filter(({ id, creator }) => pids.has(creator) && !others.has(id));
  return made.map(({ id }) => id);
}

function note({ directory, pids }: Footprint): void {
  for (const { pid } of processesOf(directory)) pids.add(pid);
}

/** The host of the primary dies, another member takes over, and the old one returns as a replica. */
async function replacePrimary(sandbox: Sandbox): Promise<void> {
  const old = sandbox.leader()?.name ?? 'nobody';
  await sandbox.kill(old);
  const isReplaced = () => {
    const leader = sandbox.leader()?.name;
    return Promise.resolve(leader !== undefined && leader !== old);
  };
  await waitUntil('another leader', isReplaced, { timeoutMs: ACTION_TIMEOUT_MS });
  await sandbox.heal(old);
  await waitUntil('a healthy sandbox', () => sandbox.isHealthy(), { timeoutMs: ACTION_TIMEOUT_MS });
}
