// Stops a process. A stopped process cannot end by itself, so it is killed when this process ends.
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import process from 'node:process';

/** Waits for the end of its input, then kills the process, if its number is not another's by now. */
const GUARD = `
  born() { cut -d" " -f22 "/proc/$1/stat" 2>/dev/null; }
  was=$(born "$1"); cat >/dev/null
  [ -n "$was" ] && [ "$(born "$1")" = "$was" ] && kill -9 "$1"`;

/** Sends SIGSTOP; SIGCONT is the caller's to send. */
export function freeze(pid: number): void {
  const guard = spawn('sh', ['-c', GUARD, 'sh', String(pid)], { stdio: ['pipe', 'ignore', 'ignore'] });
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  process.kill(pid, 'SIGSTOP');
}
