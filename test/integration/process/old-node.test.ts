// The built command on a Node that is too old: one sentence, before any other failure.
import { execFile, execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPointsman } from '../../bench/data-path/peers/pointsman-build.ts';
import type { Build } from '../../bench/data-path/peers/pointsman-build.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

let build: Build;
beforeAll(async () => {
  build = await buildPointsman('.', 'package');
});
afterAll(() => build[Symbol.dispose]());

interface Ended {
  readonly code: unknown;
  readonly said: string;
}

function runWith(node: string, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(node, args, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, said: stdout + stderr }));
  });
}

/** An import that makes Node report this version. */
function pretending(version: string): string {
  return `data:text/javascript,Object.defineProperty(process,"version",{value:"${version}"})`;
}

test.each(['v20.20.2', 'v24.11.9', 'v12.22.0'])(
  'Node %s is refused, with the way to the right one',
  async (version) => {
    const said =
      `pointsman needs Node 24.12 or newer; this is ${version}\n` +
      'In a clone of the repository, npx node uses the Node that npm ci installed: npx node dist/main.js\n';
    for (const command of ['run', 'check', '--version']) {
      expect(await runWith(process.execPath, '--import', pretending(version), build.main, command)).toEqual({
        code: 1,
        said,
      });
    }
  },
);

test.each(['v24.12.0', 'v25.0.0', 'v100.1.0'])('Node %s is accepted', async (version) => {
  expect(await runWith(process.execPath, '--import', pretending(version), build.main, 'version')).toEqual({
    code: 0,
    said: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});

function oldNode(): string | undefined {
  for (const node of ['/usr/bin/node', '/usr/local/bin/node']) {
    try {
      if (Number(/^v(\d+)/.exec(execFileSync(node, ['--version']).toString())?.[1]) < 24) return node;
    } catch {
      // This path has no Node.
    }
  }
  return undefined;
}

const old = oldNode();

describeUnless(old === undefined ? 'an old Node in /usr/bin or /usr/local/bin' : undefined, 'with an old Node', () => {
  test('it reads the file and prints the sentence', async () => {
    const { code, said } = await runWith(old ?? '', build.main, 'run');
    expect(said).toMatch(/^pointsman needs Node 24\.12 or newer; this is v\d+\.\d+\.\d+\nIn a clone .*\n$/);
    expect(code).toBe(1);
  });
});
