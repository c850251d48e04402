// Whether there is a psql to copy commands for.
import { spawnSync } from 'node:child_process';

export function hasPsql(): boolean {
  return spawnSync('psql', ['--version'], { stdio: 'ignore' }).status === 0;
}
