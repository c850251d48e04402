// `pointsman skill check` on folders of a real disk.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli } from '../../../../src/cli/program.ts';
import { cliParts } from '../../../support/fakes/cli-parts.ts';

const RUNBOOK = 'deploy/skills/pointsman-runbook';
let directory = '';
let skill = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pointsman-skill-'));
  skill = join(directory, 'pointsman-runbook');
  cpSync(RUNBOOK, skill, { recursive: true });
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function check(...argv: readonly string[]) {
  let [out, err] = ['', ''];
  const io = { env: {}, stdout: (text: string) => void (out += text), stderr: (text: string) => void (err += text) };
  const code = await runCli(['skill', 'check', ...argv], io, cliParts());
  return { code, out, err };
}

test('the runbook: ok, with its name, and the same by a link to the folder', async () => {
  const { code, out, err } = await check(skill);
  expect(out).toMatch(
    /: ok\n {2}name {9}pointsman-runbook \(from the front matter\)\n {2}description {2}\d+ characters\n/,
  );
  expect([code, err]).toEqual([0, '']);
  symlinkSync(skill, join(directory, 'link'));
  expect(await check(join(directory, 'link'))).toMatchObject({ code: 0 });
});

test('--json: name, hash and files; of a folder with faults, its problems', async () => {
  const { out } = await check(skill, '--json');
  const good: { valid: boolean; skill: { name: string; sha256: string; files: { path: string }[] } } = JSON.parse(out);
  expect(good).toMatchObject({ valid: true, problems: [], skill: { name: 'pointsman-runbook' } });
  expect(good.skill.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(good.skill.files.map(({ path }) => path)).toContain('templates/postmortem.md');
  writeFileSync(join(skill, 'server.pem'), 'x');
  const { code, out: bad, err } = await check(skill, '--json');
  expect(JSON.parse(bad)).toMatchObject({
    valid: false,
    problems: ['server.pem: a file of keys is not published'],
    skill: null,
  });
  expect([code, err]).toEqual([1, '']);
});

test('a folder with too many files is not read: it was named by mistake', async () => {
  mkdirSync(join(skill, 'many'));
  for (let n = 0; n < 501; n += 1) writeFileSync(join(skill, 'many', `${n}.md`), 'x');
  const { code, err } = await check(skill);
  expect(err).toMatch(/ has 5\d\d files: a skill has at most 500\n/);
  expect(code).toBe(1);
});

test('every problem is named at once, and nothing is followed out of the folder', async () => {
  mkdirSync(join(skill, '.git'));
  writeFileSync(join(skill, '.git', 'config'), 'x');
  symlinkSync('/etc/hostname', join(skill, 'references', 'host.md'));
  rmSync(join(skill, 'templates', 'answer.md'));
  const { code, out, err } = await check(skill);
  expect(err).toContain('references/host.md: symbolic links are not published: put the file itself there\n');
  expect(err).toContain('.git/config: hidden files are not published\n');
  expect(err).toContain('SKILL.md: the link templates/answer.md leads to no file of the skill\n');
  expect(err).toMatch(/: \d problems\n$/);
  expect([code, out]).toEqual([1, '']);
});

test('a folder that is not there, a file, and a folder that is no skill', async () => {
  expect(await check(join(directory, 'gone'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('cannot be read'),
  });
  const file = await check(join(skill, 'SKILL.md'));
  expect(file.err).toContain('is no folder: name the folder that it is in');
  expect((await check(directory)).err).toContain('SKILL.md: a skill needs this file at the top of its folder');
  expect(await check()).toMatchObject({ code: 2 });
});
