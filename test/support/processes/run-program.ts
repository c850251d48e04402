// One program as a process of its own, to its end.
import { spawn } from 'node:child_process';
import { MAIN } from './program.ts';
import { expectNoCanary } from '../values/canaries.ts';

export interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runProgram(
  program: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  // The variable of the test run is no setting of Pointsman's.
  const { POINTSMAN_TEST_CLUSTERS: _, ...env } = process.env;
  const child = spawn(program, [...args], { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  expectNoCanary(`the output of ${program} ${args.join(' ')}`, `${stdout}\n${stderr}`);
  return { code, stdout, stderr };
}

/** `pointsman ARGS…` */
export function runPointsman(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return runProgram(process.execPath, [MAIN, ...args], env);
}
