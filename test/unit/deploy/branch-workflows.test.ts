// The workflows of deploy/branches: they are YAML, each step is a shell script that parses, and its loop ends by the
// exit codes of `pointsman branches create`.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const HERE = new URL('../../../deploy/branches/', import.meta.url);
const read = (file: string): unknown => parse(readFileSync(new URL(file, HERE), 'utf8'));

const github = z
  .looseObject({ jobs: z.record(z.string(), z.looseObject({ steps: z.array(z.looseObject({ run: z.string() })) })) })
  .parse(read('github-preview.yml'));
const gitlab = z
  .record(z.string(), z.looseObject({ script: z.array(z.string()).optional() }))
  .parse(read('gitlab-preview.yml'));

const STEPS = [
  ...Object.values(github.jobs).flatMap(({ steps }) => steps.map(({ run }) => run)),
  ...Object.values(gitlab).flatMap(({ script = [] }) => script),
];

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'workflow-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A program with the name of Pointsman that answers with these exit codes in turn, then with 99. */
function runWith(script: string, codes: readonly number[]) {
  const calls = join(directory, 'calls');
  writeFileSync(calls, '');
  const program = join(directory, 'pointsman');
  const next = codes.map((code, index) => `${index}) exit ${code};;`).join(' ');
  writeFileSync(
    program,
    `#!/bin/sh\nn=$(wc -l < ${calls})\necho "$*" >> ${calls}\ncase $((n)) in ${next} esac\nexit 99\n`,
  );
  chmodSync(program, 0o755);
  const env = { PATH: `${directory}:${process.env['PATH']}`, BRANCH: 'pr-7' };
  // As a runner of GitHub calls bash.
  const { status } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], { env });
  return { status, calls: readFileSync(calls, 'utf8').trim().split('\n') };
}

test('every step is a script that bash can parse', () => {
  expect(STEPS.length).toBe(6);
  for (const step of STEPS) execFileSync('bash', ['-n', '-c', step]);
});

describe('GitHub', () => {
  const create = github.jobs['create']?.steps[0]?.run ?? '';
  const CREATE = 'branches create pr-7 --wait 60s';

  test.each([
    [[0], 0],
    [[3, 0], 0],
    [[3, 3, 3], 3],
    [[4], 4],
    [[3, 1], 1],
  ])('exit codes %j of the command: the step ends with %i', (codes, status) => {
    expect(runWith(create, codes)).toEqual({ status, calls: codes.map(() => CREATE) });
  });

  test('a closed pull request deletes the branch, without a question', () => {
    const script = github.jobs['delete']?.steps[0]?.run ?? '';
    expect(runWith(script, [0])).toEqual({ status: 0, calls: ['branches delete pr-7 --if-exists --yes'] });
  });
});

test('GitLab runs the command again on exit code 3 alone', () => {
  expect(gitlab['create-database-branch']).toMatchObject({ retry: { exit_codes: 3 } });
  expect(runWith(gitlab['create-database-branch']?.script?.[0] ?? '', [0]).calls).toEqual([
    'branches create pr-7 --wait 60s',
  ]);
});
