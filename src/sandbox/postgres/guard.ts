// Starts the guard of a sandbox's directory (guard-main.ts), and tells it when the sandbox ended in order.
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { extname } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

export const CLEAN_END = 'clean end';

/** The function dismisses the guard: everything was removed, so it ends without work. Idempotent. */
export function startGuard(directory: string): () => Promise<void> {
  // The guard is beside this file, in the sources and in the build.
  const program = fileURLToPath(new URL(`./guard-main${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(execPath, [program, directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: env['PATH'] === undefined ? {} : { PATH: env['PATH'] },
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const { stdin } = child;
  // A guard that was killed matters only when the sandbox is killed too.
  stdin.on('error', () => {});
  // The guard must not keep this process from ending.
  child.unref();
  if (stdin instanceof Socket) stdin.unref();
  return async () => {
    stdin.end(CLEAN_END);
    child.ref();
    await ended;
  };
}
