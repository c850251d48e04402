// Every benchmark runs in its shortest form, so that none of them stops working unseen. Its figures say nothing here.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { whyNoLoad } from '../bench/data-path/load.ts';
import { findHaproxy } from '../bench/failover/haproxy.ts';
import { PART_NAMES } from '../bench/data-path/parts/names.ts';
import { findPgbouncer } from '../bench/data-path/peers/pgbouncer.ts';
import { patroniAvailability } from '../support/patroni/availability.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WITHIN_MS = 300_000;

/** In less than a second a busy machine may do no work at all. */
const SHORT = { megabytes: '5', rounds: '1', seconds: '1' };
/** For all parts: the parts that do not have an option ignore it. */
const DATA_PATH = { ...SHORT, connections: '4', modes: 'prepared', sessions: '50' };
const FEW_PEERS = { peers: 'haproxy,pointsman' };
/** By part, instead of few peers. */
const OF_PART: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ping-pong': {},
  pgbench: { peers: 'direct,pgbouncer,pointsman' },
  // Each of its seven ways is warmed for a multiple of it.
  tls: { ...FEW_PEERS, seconds: '0.2' },
};
const NONE = { deaths: '0', restarts: '0', replacements: '0', silences: '0', lags: '0', fallbacks: '0', freezes: '' };

/** By script of package.json. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'bench:profile': { seconds: '0.5', connections: '4' },
  // One short fault of each kind, on a real cluster. A law that breaks ends it with another code than 0.
  'bench:consistency': { brief: 'true', moves: 'always', replication: 'synchronous', seed: '1' },
  'bench:failover': { ...NONE, switchovers: '1', cancels: '2', rate: '2' },
  'bench:follower': { rounds: '1', megabytes: '0.1' },
  'bench:latency': { rounds: '1', seconds: '2', warm: '0.1', reply: '5' },
  'bench:moves': { rounds: '1', idle: '2', clients: '1', drivers: 'psycopg2' },
  'bench:moves-idle': { sessions: '5', rounds: '1' },
  'bench:page': { sessions: '20', rounds: '1', seconds: '0.2', idle: '0.2' },
  'bench:patroni-api': { rounds: '1', seconds: '0.3', idle: '0.5' },
  'bench:reads': { rounds: '1', seconds: '0.5', readers: '4', writes: '50' },
  // A read that is stale ends it with another code than 0. The other faults take longer.
  'bench:reads-history': { reads: '2000', readers: '8', brief: 'true', faults: 'lacks' },
  'bench:branches': { rounds: '1', each: '10' },
  'bench:probing': { rounds: '1', each: '1' },
};

const packageJson = z.object({ scripts: z.record(z.string(), z.string()) });
const { scripts } = packageJson.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
const commands = Object.entries(scripts).filter(([name]) => name.startsWith('bench:'));
const TITLE = '%s measures something in its shortest form';

function whyNot(): string | undefined {
  const patroni = patroniAvailability();
  if (!patroni.available) return patroni.howToInstall;
  if (findHaproxy() === undefined) return 'haproxy: apt-get install haproxy';
  if (findPgbouncer() === undefined) return 'pgbouncer: apt-get install pgbouncer';
  return whyNoLoad();
}

describeUnless(whyNot(), 'the benchmarks', () => {
  // Two at a time, for most of their time they wait. No part runs beside a real cluster.
  describe('the parts of the data path', () => {
    it.concurrent.each(PART_NAMES)(TITLE, { timeout: WITHIN_MS }, async (only) => {
      const { bench = '' } = scripts;
      const { stdout } = await measured(bench, { ...DATA_PATH, only, ...(OF_PART[only] ?? FEW_PEERS) });
      expect(stdout).toMatch(new RegExp(`^### ${only}$`, 'm'));
    });
  });

  describe('the others', () => {
    it.concurrent.each(commands)(TITLE, { timeout: WITHIN_MS }, async (name, command) => {
      const directory = mkdtempSync(join(tmpdir(), 'pointsman-bench-runs-'));
      try {
        await measured(command, { ...OPTIONS[name], ...filesOf(name, directory) });
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });

    it.concurrent('bench:latency measures PostgreSQL, too', { timeout: WITHIN_MS }, async () => {
      const { 'bench:latency': command = '' } = scripts;
      const { stdout } = await measured(command, { ...OPTIONS['bench:latency'], clients: '8', real: '1' });
      expect(stdout).toContain('PostgreSQL');
    });
  });
});

async function measured(...asked: Parameters<typeof run>): ReturnType<typeof run> {
  const printed = await run(...asked);
  expect(printed.stdout, printed.stderr).toMatch(/^\|.*\d|\d kB each/m);
  expect(printed.stdout).not.toMatch(/NaN|undefined|Infinity/);
  return printed;
}

function filesOf(name: string, directory: string): Readonly<Record<string, string>> {
  if (name === 'bench:profile') return { out: directory };
  return name === 'bench:consistency' || name === 'bench:reads-history' ? { page: join(directory, 'page.html') } : {};
}

/** A benchmark with bars ends with 1 when Pointsman missed one, which a busy machine can cause. */
async function run(
  command: string,
  options: Readonly<Record<string, string>>,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const [, ...script] = command.split(' ');
  const args = [...script, ...Object.entries(options).map(([option, value]) => `--${option}=${value}`)];
  try {
    return await promisify(execFile)(process.execPath, args, {
      cwd: ROOT,
      maxBuffer: 2 ** 24,
      timeout: WITHIN_MS,
    });
  } catch (error) {
    const { stdout, stderr } = z.object({ stdout: z.string(), stderr: z.string() }).parse(error);
    if (stderr.includes('Pointsman missed a bar')) return { stdout, stderr };
    throw error;
  }
}
