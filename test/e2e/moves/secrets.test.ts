// After a batch of moves nothing of a secret is left: not in the memory of the process, its heap, its log, or any
// document of the management API.
import { createHmac, createHash, pbkdf2Sync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOTH_LEGS, describeOnSandbox } from '../../support/clusters/describe-on-clusters.ts';
import { countInMemory, hasProcessMemory } from '../../support/processes/process-memory.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { type PointsmanProcess, startPointsman } from '../../support/processes/pointsman-process.ts';
import type { DrivenSession, RunningProgram } from '../../support/moves/driven-session.ts';
import { move, request } from '../../support/moves/move.ts';
import { movingLab } from '../../support/moves/moving-lab.ts';
import { movesConfig } from '../../support/moves/prepared-database.ts';
import { nodePostgres } from '../../support/moves/programs.ts';

const SESSIONS = 20;

interface Secrets {
  readonly texts: readonly string[];
  /** The bytes that could be in memory: the raw keys, and the texts. */
  readonly wanted: readonly Buffer[];
}

/** Everything that can be made of a password and its verifier, as it might be kept. */
function secretsOf(password: string, verifier: string): Secrets {
  const [, iterations = '', salt = '', stored = '', server = ''] =
    /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/.exec(verifier) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  // The key that the test computes must fit to the one that the server has.
  expect(createHash('sha256').update(clientKey).digest('base64')).toBe(stored);
  const keys = [clientKey, Buffer.from(stored, 'base64'), Buffer.from(server, 'base64')];
  const texts = keys.flatMap((key) => [key.toString('base64'), key.toString('hex'), key.toString('latin1')]);
  const all = [...texts, verifier];
  return { texts: all, wanted: [...keys, ...all.map((text) => Buffer.from(text))] };
}

describeOnSandbox({ name: 'secrets after a batch of moves', legs: BOTH_LEGS }, (on) => {
  const lab = movingLab(on);
  let watched: PointsmanProcess | undefined;
  let running: RunningProgram | undefined;
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    const NODE_OPTIONS = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}`;
    watched = await startPointsman(configFor(lab.cluster, movesConfig(lab.cluster, directory)), { NODE_OPTIONS });
    await watched.waitUntilReady();
    running = nodePostgres().start(lab.directory, await lab.target(watched));
  });
  afterAll(async () => {
    await running?.stop();
    await watched?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('has neither the verifier nor a key of it', async () => {
    if (watched === undefined || running === undefined) throw new Error('not started');
    const pointsman = watched;
    const { name } = await lab.cluster.leader();
    const [row] = await lab.cluster.sql(name, `select rolpassword as verifier from pg_authid where rolname = 'app'`);
    const secrets = secretsOf(lab.cluster.app.password, String(row?.['verifier']));
    const sessions: DrivenSession[] = [];
    for (let n = 0; n < SESSIONS; n += 1) sessions.push(await running.open(`secret-${n}`));
    await Promise.all(
      sessions.map(async (session) => {
        expect(await move(pointsman, session.name)).toMatchObject({ result: 'moved', reason: null });
      }),
    );
    if (hasProcessMemory) {
      const counts = await countInMemory(pointsman.pid, [Buffer.from('secret-0'), ...secrets.wanted]);
      // It is the memory of these sessions.
      expect(counts[0]).toBeGreaterThan(0);
      expect(counts.slice(1)).toEqual(secrets.wanted.map(() => 0));
    }
    // The process stands still while it writes its heap.
    for (const session of sessions) expect(session.events).toEqual([]);
    const heap = await snapshot(pointsman);
    // It is the heap of these sessions.
    expect(heap).toContain('secret-0');
    for (const text of secrets.texts) expect(heap.includes(JSON.stringify(text).slice(1, -1))).toBe(false);

    const answers = ['/status', '/metrics', '/sessions?limit=1000', '/config'].map(async (path) => {
      const response = await request(pointsman, 'GET', path);
      return response.text();
    });
    const told = [JSON.stringify(pointsman.lines), ...pointsman.stderr, ...(await Promise.all(answers))].join('\n');
    for (const text of secrets.texts) expect(told.includes(text)).toBe(false);
  });

  async function snapshot(pointsman: PointsmanProcess): Promise<string> {
    pointsman.signal('SIGUSR2');
    return pointsman.waitFor('the heap snapshot', async () => {
      const [file] = (await readdir(directory)).filter((one) => one.endsWith('.heapsnapshot'));
      if (file === undefined) return undefined;
      const text = await readFile(join(directory, file), 'utf8');
      // It is written in parts.
      return text.trimEnd().endsWith(']}') ? text : undefined;
    });
  }
});
