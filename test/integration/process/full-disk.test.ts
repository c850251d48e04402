// The log's disk is full for a moment: a file that cannot grow, and later can.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { FakeCluster, fileFor, freeAddresses } from '../../support/labs/app-lab.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';

const NO_PRLIMIT = existsSync('/proc/self/fd') ? undefined : 'Linux, with prlimit';

let cluster: FakeCluster;
let directory: string;
let pointsman: PointsmanProcess | undefined;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  directory = await mkdtemp(join(tmpdir(), 'pointsman-log-'));
});

afterEach(async () => {
  await pointsman?.stop();
  pointsman = undefined;
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
});

itUnless(
  NO_PRLIMIT,
  'a log whose disk was full for a moment continues, and one line on stderr reports the fault',
  async () => {
    const file = join(directory, 'log');
    const log = await open(file, 'a');
    const [admin] = await freeAddresses(1);
    const address = `127.0.0.1:${admin?.port}`;
    const config = fileFor([cluster.primary, cluster.replica], { admin: { address } });
    const running = await startPointsman(config, {}, { stdout: log.fd });
    pointsman = running;
    await log.close();
    const said = (): Promise<string> => readFile(file, 'utf8');
    const times = async (event: string): Promise<number> => (await said()).split(`"event":"${event}"`).length - 1;
    await running.waitFor('readiness in the log', async () => (await times('route_changed')) >= 2);

    limitFileSize(running.pid, String(statSync(file).size));
    running.signal('SIGHUP');
    await running.waitFor('a word on stderr', () => running.stderr.join('').includes('cannot write the log'));
    running.signal('SIGHUP');
    expect(await times('config_reloaded')).toBe(0);

    limitFileSize(running.pid, 'unlimited');
    await running.waitFor('both reloads in the log', async () => (await times('config_reloaded')) === 2);
    expect(running.stderr.join('').split('cannot write the log').length - 1).toBe(1);
    const metrics = await (await fetch(`http://${address}/metrics`)).text();
    expect(metrics).toMatch(/^pointsman_log_lines_dropped_total(?:\{.*\})? 0$/m);
  },
);

function limitFileSize(pid: number, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}
