// Starts the guard of a sandbox's directory (guard-main.ts) and tells it when all ended well.
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { extname } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

export const CLEAN_END = 'clean end';

export interface Guard {
  /** Everything is gone: it has nothing to do and ends. Idempotent. */
  dismiss(): Promise<void>;
}

export function startGuard(directory: string): Guard {
  // Beside this file, as source or as built.
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
  // A guard that somebody ended is missed at the worst moment only.
  stdin.on('error', () => {});
  // It must not keep this process from ending.
  child.unref();
  if (stdin instanceof Socket) stdin.unref();
  return {
    async dismiss() {
      stdin.end(CLEAN_END);
      child.ref();
      await ended;
    },
  };
}
