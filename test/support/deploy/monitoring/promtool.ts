// Prometheus's own tool, and whether it is here.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** For people; undefined when it is here. */
export const missingPromtool = await run('promtool', ['--version']).then(
  () => undefined,
  () => 'promtool (npm run prerequisites installs it, in the package prometheus)',
);

/** The findings of `promtool check metrics`; empty if there are none. */
export async function metricFindings(exposition: string): Promise<string> {
  const checking = run('promtool', ['check', 'metrics']);
  checking.child.stdin?.end(exposition);
  return checking.then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: unknown) => String(error),
  );
}
