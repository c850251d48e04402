// The drivers that applications use, each in its own program (test/e2e/drivers), in plain text before a branch behind
// TLS: login without channel binding, every kind of traffic, and cancel requests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { startKeptSandbox } from '../support/sandbox/kept-cluster.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { drivers, runCases } from '../support/applications/driver-programs.ts';
import type { Driver, DriverTarget } from '../support/applications/driver-programs.ts';
import { missingForSandbox } from '../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../support/labs/proxy-lab.ts';
import { describeUnless, itUnless } from '../support/runner/unless-missing.ts';
import { speakTls } from '../support/sandbox/speak-tls.ts';
import { foundAt } from '../support/values/branches.ts';
import { tlsFile } from '../support/values/tls-files.ts';

const VALUES = {
  connect: '1',
  prepared: '42 42 42',
  transaction: '0 1',
  large: '50000 1250025000',
  error: '22012 1',
  copy: '1000 500500',
  cancel: '57014 1',
};

describeUnless(missingForSandbox, 'drivers, in plain text before a branch behind TLS', () => {
  const known = drivers();
  let sandbox: Sandbox;
  let lab: ProxyLab;
  let directory = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    sandbox = await startKeptSandbox({ members: 1 });
    const [member] = sandbox.members;
    if (member === undefined) throw new Error('a sandbox without a member');
    const { host, port } = member;
    await speakTls({ host, port, ...sandbox.superuser, database: 'postgres' });
    const { backend, ...found } = foundAt({ host, port });
    lab = await startProxyLab({
      locateBranch: () => ({ ...found, backend: { ...backend, tls: 'require' } }),
      branchCaFile: tlsFile('ca.pem'),
    });
    for (const driver of known) if (driver.missing === undefined) await driver.prepare(directory);
  }, 120_000);

  afterAll(async () => {
    lab.proxy.close();
    await sandbox.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function expectTheServer(driver: Driver): Promise<void> {
    const { app } = sandbox;
    const as = { ...app, database: `${app.database}@pr-1` };
    const to: DriverTarget = { port: lab.address('write').port, sslmode: 'disable', as };
    const wanted = Object.entries(VALUES).filter(([name]) => !driver.lacks.includes(name));
    const results = await runCases(
      driver,
      directory,
      to,
      wanted.map(([name]) => name),
    );
    expect(results).toEqual(new Map(wanted.map(([name, value]) => [name, { value, error: undefined }])));
    const wrong = await runCases(driver, directory, { ...to, as: { ...as, password: 'wrong' } }, ['connect']);
    expect(wrong.get('connect')?.error).toContain(`password authentication failed for user "${app.user}"`);
  }

  for (const driver of known) {
    itUnless(driver.missing, driver.name, () => expectTheServer(driver), 60_000);
  }
});
