// A test of the harness: a run that is killed while it holds a process under SIGSTOP leaves nothing behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect } from 'vitest';
import { itUnless } from '../../support/runner/unless-missing.ts';

const children: ReturnType<typeof spawn>[] = [];

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

function node(script: string): ReturnType<typeof spawn> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

itUnless(
  process.platform === 'linux' ? undefined : 'Linux, with /proc',
  'a process that was frozen ends with the process that froze it',
  async () => {
    const frozen = node('process.stdin.resume()');
    const ended = once(frozen, 'exit');
    const freeze = new URL('../../support/processes/freeze.ts', import.meta.url).href;
    const holder = node(
      `import { freeze } from '${freeze}'; freeze(${frozen.pid}); console.log('done'); process.stdin.resume()`,
    );
    if (holder.stdout !== null) await once(holder.stdout, 'data');
    holder.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  },
);
