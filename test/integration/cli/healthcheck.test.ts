// `pointsman healthcheck`, over real sockets: the address of its request, its output and its exit code. The program in
// the images behaves the same.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Readiness } from '../../../src/admin/status.ts';
import { healthcheck } from '../../../src/cli/healthcheck.ts';
import type { HealthcheckOptions } from '../../../src/cli/healthcheck.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { listen } from '../../support/sockets/listen.ts';
import { HEALTHCHECK_MAIN } from '../../support/processes/program.ts';

const NOT_READY: Readiness = { ready: false, why: 'no complete probe round yet' };

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(readiness: Readiness): Promise<string> {
  const admin = createAdmin(adminOptions({ readiness: () => readiness }));
  const listening = await admin.listen();
  closing.push(admin.close);
  if (listening.kind === 'failed') throw new Error(listening.detail);
  return `127.0.0.1:${listening.address.port}`;
}

async function checked(
  options: HealthcheckOptions,
  { env = {}, file }: { env?: Record<string, string>; file?: string } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', ''];
  const readFile = (): string => {
    if (file === undefined) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    return file;
  };
  const io = {
    env,
    readFile,
    stdout: (text: string) => (stdout += text),
    stderr: (text: string) => (stderr += text),
  };
  return { code: await healthcheck(options, io), stdout, stderr };
}

describe('healthcheck', () => {
  test('is 0 for a Pointsman that is ready', async () => {
    const admin = await serve({ ready: true });
    expect(await checked({ admin })).toEqual({ code: 0, stdout: `${admin}/readyz: ready\n`, stderr: '' });
  });

  test('is 1 for one that is not ready, with the reason; with --live it is 0', async () => {
    const admin = await serve(NOT_READY);
    const { code, stdout, stderr } = await checked({ admin });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/readyz: no complete probe round yet\n$/);
    expect((await checked({ admin, live: true })).code).toBe(0);
  });

  test('is 1 without a listener, and without an answer in HTTP', async () => {
    const mute = createServer((socket) => socket.resume().end('not HTTP\r\n\r\n'));
    const port = await listen(mute);
    const admin = `127.0.0.1:${port}`;
    expect(await checked({ admin })).toMatchObject({ code: 1, stdout: '' });
    await new Promise((resolve) => mute.close(resolve));
    expect((await checked({ admin })).stderr).toContain('connection refused');
  });

  test('is 1 for the page of another program, and does not print the page', async () => {
    const other = createHttpServer((_, response) => response.end('<!doctype html>\n<title>Other</title>'));
    const admin = `127.0.0.1:${await listen(other)}`;
    const { code, stderr } = await checked({ admin });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${admin}/readyz: not a Pointsman admin endpoint\n`,
    });
    await new Promise((resolve) => other.close(resolve));
  });

  test('accepts the address as the URL that check prints', async () => {
    const admin = await serve({ ready: true });
    expect((await checked({ admin: `http://${admin}/` })).stdout).toBe(`${admin}/readyz: ready\n`);
  });

  test('finds the address as run does: the environment before the file, loopback for every interface', async () => {
    const admin = await serve({ ready: true });
    const port = admin.slice(admin.indexOf(':') + 1);
    const file = `admin: { address: '*:${port}' }`;
    expect((await checked({ config: 'pointsman.yaml' }, { file })).stdout).toBe(`${admin}/readyz: ready\n`);
    expect((await checked({}, { file, env: { POINTSMAN_CONFIG: 'pointsman.yaml' } })).code).toBe(0);
    const env = { POINTSMAN_ADMIN_ADDRESS: `0.0.0.0:${port}` };
    expect((await checked({ config: 'pointsman.yaml' }, { file: "admin: { address: '*:1' }", env })).code).toBe(0);
  });

  test('an invalid file does not make a running Pointsman unhealthy', async () => {
    const admin = await serve({ ready: true });
    const file = `admin: { address: '${admin}' }\npools: { write: { check: /nonsense } }\nunheard_of: true\n`;
    expect((await checked({ config: 'pointsman.yaml' }, { file })).code).toBe(0);
  });

  test.each([{ file: ': not YAML [' }, { file: 'admin: { address: 12 }' }, {}])(
    'uses the default address when the configuration has none: %j',
    async (given) => {
      const { stdout, stderr } = await checked({ config: 'pointsman.yaml' }, given);
      expect(stdout + stderr).toMatch(/^127\.0\.0\.1:8432\/readyz: /);
    },
  );

  test('is 2 for an invalid address', async () => {
    expect(await checked({ admin: '8432' })).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('as a separate program', () => {
  const run = promisify(execFile);

  test('it finds the file that POINTSMAN_CONFIG names', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    closing.push(() => rm(directory, { recursive: true, force: true }));
    const admin = await serve({ ready: true });
    const file = join(directory, 'pointsman.yaml');
    await writeFile(file, `admin: { address: '${admin}' }\n`);
    const { stdout } = await run(process.execPath, [HEALTHCHECK_MAIN], { env: { POINTSMAN_CONFIG: file } });
    expect(stdout).toBe(`${admin}/readyz: ready\n`);
  });

  test.each([
    [['--admin', '127.0.0.1:1'], 1],
    [['--unheard-of'], 2],
  ])('%j ends with %i', async (args, code) => {
    await expect(run(process.execPath, [HEALTHCHECK_MAIN, ...args], { env: {} })).rejects.toMatchObject({ code });
  });
});
