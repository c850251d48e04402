// Checks whether psql is installed, so that its commands can be shown.
import { spawnSync } from 'node:child_process';

export function hasPsql(): boolean {
  return spawnSync('psql', ['--version'], { stdio: 'ignore' }).status === 0;
}
