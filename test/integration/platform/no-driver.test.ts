// `pointsman computer` where the optional package playwright-core is not installed.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { MAIN } from '../../support/processes/program.ts';

/** Node looks for a package that is not there. */
const HIDE = `import { registerHooks } from 'node:module';
registerHooks({
  resolve: (name, context, next) => next(name === 'playwright-core' ? 'playwright-core-is-hidden' : name, context),
});`;

test('the command says which package to install', () => {
  const hide = `data:text/javascript,${encodeURIComponent(HIDE)}`;
  const args = ['--import', hide, MAIN, 'computer', '--url', 'http://127.0.0.1:8432/', '--browser', process.execPath];
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    timeout: 50_000,
  });
  expect(stderr).toBe('pointsman: the browser is driven by the package playwright-core: npm install playwright-core\n');
  expect([status, stdout]).toEqual([1, '']);
});
