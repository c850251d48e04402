// The commands about skills and agents against the sandbox's platform, on real sockets and a real disk.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PlatformLab } from '../../../support/platform/platform-lab.ts';

const RUNBOOK = 'deploy/skills/pointsman-runbook';
let lab: PlatformLab;
let home = '';
let folder = '';

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'pointsman-publish-'));
  folder = join(home, 'pointsman-runbook');
  cpSync(RUNBOOK, folder, { recursive: true });
  lab = await PlatformLab.start(home);
});
afterEach(async () => {
  await lab.close();
  rmSync(home, { recursive: true, force: true });
});

const edit = (text: string): void => writeFileSync(join(folder, 'references', 'extra.md'), text);
const rename = (name: string): void => {
  const file = join(folder, 'SKILL.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^name: .*$/m, `name: ${name}`));
};
const publishedId = (out: string): string => /skill_\w+/.exec(out)?.[0] ?? '';

describe('publish', () => {
  test('an unknown folder needs --create; the same content sends nothing, another one is a new version', async () => {
    const unknown = await lab.run('skill', 'publish', folder);
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining('not published from here: use --create'),
    });
    expect(lab.requests()).toEqual([]);

    const created = await lab.run('skill', 'publish', folder, '--create');
    expect(created).toMatchObject({ code: 0, out: expect.stringContaining('pointsman-runbook: created, skill_') });
    const id = publishedId(created.out);

    const again = await lab.run('skill', 'publish', folder);
    expect(again).toMatchObject({
      code: 0,
      out: `pointsman-runbook: unchanged, ${id} has this content; nothing was sent\n`,
    });
    expect(lab.requests()).toEqual(['POST /v1/skills']);

    edit('more');
    const second = await lab.run('skill', 'publish', folder);
    expect(second).toMatchObject({ code: 0, out: expect.stringContaining(`new version, ${id}, version `) });
    expect(lab.requests()).toEqual(['POST /v1/skills', `POST /v1/skills/${id}/versions`]);

    const versions = await lab.run('skill', 'versions', 'pointsman-runbook');
    expect(versions.out.trim().split('\n').length).toBe(2);
  });

  test('the name never changes: a renamed folder is refused before anything is sent', async () => {
    const id = publishedId((await lab.run('skill', 'publish', folder, '--create')).out);
    const before = lab.requests().length;
    rename('another-name');
    const renamed = await lab.run('skill', 'publish', folder);
    expect(renamed).toMatchObject({ code: 1 });
    expect(renamed.err).toContain(`This folder was published as pointsman-runbook (${id}); a name never changes`);
    const named = await lab.run('skill', 'publish', folder, '--skill-id', id);
    expect(named.err).toContain(
      `${id} has the name pointsman-runbook, which never changes, and this folder has another-name`,
    );
    expect(lab.requests().length).toBe(before);
  });

  test('--skill-id without a record: it is read first, and a read-only or other one gets no version', async () => {
    const id = publishedId((await lab.run('skill', 'publish', folder, '--create')).out);
    const elsewhere = ['--record', join(home, 'other.json')];
    edit('more');
    expect(await lab.run('skill', 'publish', folder, '--skill-id', id, ...elsewhere)).toMatchObject({ code: 0 });
    rename('another-name');
    const posts = lab.requests().filter((line) => line.startsWith('POST')).length;
    const empty = ['--record', join(home, 'empty.json')];
    const other = await lab.run('skill', 'publish', folder, '--skill-id', id, ...empty);
    expect(other.err).toContain('which never changes');
    const listed: { skills: { skill_id: string; source: string }[] } = JSON.parse(
      (await lab.run('skill', 'list', '--json')).out,
    );
    const readOnly = listed.skills.filter(({ source }) => source !== 'custom');
    expect(readOnly.length).toBe(3);
    for (const { skill_id: foreign, source } of readOnly) {
      const { code, err } = await lab.run('skill', 'publish', folder, '--skill-id', foreign, ...empty);
      expect([code, err]).toEqual([
        1,
        `pointsman: ${foreign} is read-only: its source is ${source}. Nothing was sent\n`,
      ]);
      const deleted = await lab.run('skill', 'delete', foreign, '--yes');
      expect(deleted).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was deleted') });
    }
    expect(lab.requests().filter((line) => /^(?:POST|DELETE)/.test(line)).length).toBe(posts);
  });

  test('a folder with a key, and --create of a published one, send nothing', async () => {
    writeFileSync(join(folder, 'server.pem'), 'x');
    const secret = await lab.run('skill', 'publish', folder, '--create');
    expect(secret).toMatchObject({
      code: 1,
      err: expect.stringContaining('server.pem: a file of keys is not published'),
    });
    expect(lab.requests()).toEqual([]);
    rmSync(join(folder, 'server.pem'));
    await lab.run('skill', 'publish', folder, '--create');
    edit('more');
    expect((await lab.run('skill', 'publish', folder, '--create')).err).toContain('is published already');
    expect(lab.requests()).toEqual(['POST /v1/skills']);
  });

  test('a record that cannot be kept stops the upload before it is sent', async () => {
    writeFileSync(join(home, 'a-file'), 'x');
    const { code, err } = await lab.run(
      'skill',
      'publish',
      folder,
      '--create',
      '--record',
      join(home, 'a-file/x.json'),
    );
    expect(code).toBe(1);
    expect(err).toMatch(/cannot be (?:read|written)/);
    writeFileSync(join(home, 'broken.json'), '{');
    const broken = await lab.run('skill', 'publish', folder, '--create', '--record', join(home, 'broken.json'));
    expect(broken.err).toContain('is not what Pointsman wrote');
    expect(lab.requests()).toEqual([]);
  });
});

test('an answer that gets lost: the upload is sent once, and the command says where to look', async () => {
  lab.loseNextAnswer();
  const lost = await lab.run('skill', 'publish', folder, '--create');
  expect(lost).toMatchObject({ code: 1, out: '' });
  expect(lost.err).toContain('the platform may have done it, so the request is not repeated');
  expect(lost.err).toContain('`pointsman skill list` shows whether it exists');
  expect(lab.requests()).toEqual(['POST /v1/skills']);
  const { skills }: { skills: { skill_id: string; source: string }[] } = JSON.parse(
    (await lab.run('skill', 'list', '--json')).out,
  );
  const [made] = skills.filter(({ source }) => source === 'custom');
  const known = await lab.run('skill', 'publish', folder, '--skill-id', made?.skill_id ?? '');
  expect(known).toMatchObject({ code: 0, out: expect.stringContaining('new version') });
});

test('the dialect beta: versions are epochs, and every call has the beta value', async () => {
  const beta = (...argv: readonly string[]) => lab.runWith({ POINTSMAN_PLATFORM_SKILLS_DIALECT: 'beta' }, ...argv);
  expect(await beta('skill', 'publish', folder, '--create')).toMatchObject({ code: 0 });
  edit('more');
  const second = await beta('skill', 'publish', folder);
  const [, version = ''] = /version (\d+)\n$/.exec(second.out) ?? [];
  expect(version).toMatch(/^\d{10,}$/);
  expect((await beta('skill', 'versions', 'pointsman-runbook')).out).toContain(`${version}\n`);
  const limits = ['--model', 'vendor-opus-5', '--max-tokens', '10'];
  const { out } = await beta('skill', 'request', `pointsman-runbook:${version}`, ...limits);
  expect(await lab.checkMessage(out)).toMatchObject({ status: 200 });
  const latest = await beta('skill', 'delete', 'pointsman-runbook', '--version', 'latest', '--yes');
  expect(latest).toMatchObject({ code: 1, err: expect.stringContaining('it is a Unix epoch') });
  const deleted = await beta('skill', 'delete', 'pointsman-runbook', '--version', version, '--yes');
  expect(deleted).toMatchObject({ code: 0 });
});

test('list, show, delete: by name and by id; a deleted version is sent again', async () => {
  const id = publishedId((await lab.run('skill', 'publish', folder, '--create')).out);
  expect((await lab.run('skill', 'list')).out).toMatch(new RegExp(`^${id} +pointsman-runbook +custom`, 'm'));
  expect((await lab.run('skill', 'show', 'pointsman-runbook')).out).toContain(`skill_id           ${id}\n`);
  edit('more');
  await lab.run('skill', 'publish', folder);
  const { out } = await lab.run('skill', 'versions', id, '--json');
  const { versions }: { versions: string[] } = JSON.parse(out);
  const [newest = ''] = versions.toSorted().toReversed();
  const deleted = await lab.run('skill', 'delete', id, '--version', newest, '--yes');
  expect(deleted).toMatchObject({ code: 0, out: `deleted version ${newest} of ${id}\n` });
  expect((await lab.run('skill', 'publish', folder)).out).toContain('new version');

  const asked = await lab.run('skill', 'delete', id);
  expect(asked).toMatchObject({
    code: 2,
    err: expect.stringContaining('Cannot ask (not a terminal); nothing was changed'),
  });
  expect(await lab.run('skill', 'delete', 'pointsman-runbook', '--yes')).toMatchObject({ code: 0 });
  expect((await lab.run('skill', 'show', id)).err).toContain('status 404');
  expect((await lab.run('skill', 'show', 'pointsman-runbook')).err).toContain('was not published from here');
});

test('request: all three parts and both beta values, as the platform demands; nothing is sent', async () => {
  await lab.run('skill', 'publish', folder, '--create');
  const before = lab.requests().length;
  const argv = ['--model', 'vendor-opus-5', '--max-tokens', '1000', '--question', 'Is it safe?'];
  const { code, out } = await lab.run('skill', 'request', 'pointsman-runbook', ...argv);
  expect(code).toBe(0);
  expect(lab.requests().length).toBe(before);
  expect(out).not.toContain(lab.apiKey);
  expect(await lab.checkMessage(out)).toMatchObject({ status: 200 });
  const request: { headers: Record<string, string>; body: { container: object } } = JSON.parse(out);
  expect(Object.keys(request.headers)).toEqual([lab.betaHeader]);
  expect(request.body).toMatchObject({
    model: 'vendor-opus-5',
    max_tokens: 1000,
    tools: [{ type: 'code_execution_20260521', name: 'code_execution' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Is it safe?' }] }],
  });
  expect(JSON.stringify(request.body.container)).toMatch(/"version":"latest"/);
});

test('without --model, with no number of tokens, without the section: wrong usage with the remedy', async () => {
  expect(await lab.run('skill', 'request', 'skill_1', '--max-tokens', '10')).toMatchObject({ code: 2 });
  const zero = await lab.run('skill', 'request', 'skill_1', '--model', 'm', '--max-tokens', '0');
  expect(zero).toMatchObject({ code: 2, err: expect.stringContaining('It is a whole number, 1 or more.') });
  const without = await lab.runWithout('skill', 'list');
  expect(without).toMatchObject({ code: 2, err: expect.stringContaining('POINTSMAN_PLATFORM_URL') });
});

describe('agent create', () => {
  test('sends the file as it is, with its beta value', async () => {
    const file = join(home, 'agent.json');
    writeFileSync(file, '{"name": "night-watch", "build": 1.0}');
    const { code, out } = await lab.run('agent', 'create', '--file', file);
    expect(code).toBe(0);
    expect(() => void JSON.parse(out)).not.toThrow();
    expect(lab.requests()).toEqual(['POST /v1/agents']);
  });

  test('no file, no JSON, no object: nothing is sent', async () => {
    const file = join(home, 'agent.json');
    expect(await lab.run('agent', 'create', '--file', file)).toMatchObject({ code: 1 });
    for (const text of ['{', '[]', '"x"']) {
      writeFileSync(file, text);
      const { code, err } = await lab.run('agent', 'create', '--file', file);
      expect([code, err]).toEqual([1, `pointsman: ${file} is no JSON object. Nothing was sent\n`]);
    }
    expect(lab.requests()).toEqual([]);
  });
});
