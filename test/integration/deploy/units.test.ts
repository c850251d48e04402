// The systemd units, read by systemd's own tools, which start nothing. The test also checks the figures in the units
// that depend on Pointsman's defaults.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { addressText } from '../../../src/model/member.ts';
import { findExecutable } from '../../support/patroni/availability.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const run = promisify(execFile);
const UNITS = new URL('../../../deploy/systemd/', import.meta.url).pathname;
const missing =
  findExecutable('systemd-analyze') === undefined ? 'systemd-analyze: apt-get install systemd' : undefined;

describeUnless(missing, "systemd's tools", () => {
  let directory: string;

  /**
   * Copies the units. They name another program, because Pointsman is not installed; the template becomes an instance.
   */
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-units-'));
    for (const name of await readdir(UNITS)) {
      const text = await readFile(join(UNITS, name), 'utf8');
      const here = text.replaceAll(/^(Exec\w+=)pointsman /gm, '$1/bin/sh ');
      await writeFile(join(directory, name.replace('@.', '@8432.')), here);
    }
  });

  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  test('systemd-analyze verify reports nothing', async () => {
    const units = (await readdir(directory)).map((name) => join(directory, name));
    expect(units.length).toBeGreaterThanOrEqual(3);
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...units]);
    expect(stdout + stderr).toBe('');
  });

  test.each(['pointsman.service', 'pointsman@8432.service'])('%s has a low exposure', async (unit) => {
    // Fails above 2.0 of 10. Half of the rest is the access to the network.
    await run('systemd-analyze', ['security', '--offline=true', '--threshold=20', '--no-pager', join(directory, unit)]);
  });
});

async function setting(unit: string, name: string): Promise<string> {
  const text = await readFile(join(UNITS, unit), 'utf8');
  return new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
}

async function confinement(unit: string): Promise<string> {
  const text = await readFile(join(UNITS, unit), 'utf8');
  return text.replace(/^[^]*# Confinement/, '').replace(/\[Install\][^]*$/, '');
}

describe('the units and Pointsman’s defaults', () => {
  const loaded = loadConfig({ file: undefined, env: { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' } });
  if (loaded.kind === 'invalid') throw new Error('the defaults are invalid');
  const { client, shutdown, listeners } = loaded.config;

  test.each(['pointsman.service', 'pointsman@.service'])('%s: descriptors for every session', async (unit) => {
    expect(Number(await setting(unit, 'LimitNOFILE'))).toBe(2 * client.maxSessions + 1024);
  });

  test('the time to stop is longer than Pointsman’s', async () => {
    const needed = (shutdown.graceMs + shutdown.waitMs + shutdown.drainTimeoutMs) / 1000;
    expect(Number.parseInt(await setting('pointsman.service', 'TimeoutStopSec'), 10)).toBeGreaterThan(needed);
    // The template has no grace, and ten minutes of wait.
    const replaced = 600 + shutdown.drainTimeoutMs / 1000;
    expect(Number.parseInt(await setting('pointsman@.service', 'TimeoutStopSec'), 10)).toBeGreaterThan(replaced);
  });

  test('the sockets are those of the listeners', async () => {
    const text = await readFile(join(UNITS, 'pointsman.socket'), 'utf8');
    const bound = [...text.matchAll(/^ListenStream=(.*)$/gm)].map(([, address]) => address);
    expect(bound).toEqual(listeners.map(({ address }) => addressText(address)));
  });

  test('both services have the same confinement', async () => {
    expect(await confinement('pointsman@.service')).toBe(await confinement('pointsman.service'));
    expect(await confinement('pointsman.service')).toContain('ProtectSystem=strict');
  });
});
