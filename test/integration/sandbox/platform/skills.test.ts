// Skills at the sandbox's platform: both dialects, the name that never changes, and what it refuses.
import { existsSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BETAS, formOf, PlatformLab } from '../../../support/sandbox/platform-lab.ts';

const BETA = [BETAS.skills];
const NAMED = '---\nname: night-watch\ndescription: For the night.\n---\nRead this.\n';

interface Listed {
  readonly skill_id: string;
  readonly name: string;
  readonly source: { readonly type: string };
}

let lab: PlatformLab;
beforeAll(async () => {
  lab = await PlatformLab.start();
});
afterAll(async () => {
  await lab.stop();
});

async function createdId(name = 'night-watch'): Promise<string> {
  const { status, body } = await lab.createSkill({ [`${name}/SKILL.md`]: `---\nname: ${name}\n---\n` });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.skill_id;
}

describe('the key', () => {
  test('every request needs it, and only the owner reads its file', async () => {
    expect((await lab.send('GET', '/v1/skills', [], undefined, {})).status).toBe(401);
    expect((await lab.send('GET', '/v1/skills', [], undefined, { 'x-api-key': 'wrong' })).status).toBe(401);
    expect((await lab.get('/v1/skills')).status).toBe(200);
    expect((await stat(lab.platform.apiKeyFile)).mode & 0o077).toBe(0);
  });

  test('a page in a browser is refused', async () => {
    const headers = { 'x-api-key': lab.key, origin: 'http://127.0.0.1' };
    expect((await lab.send('POST', '/v1/skills', [], formOf('files[]', {}), headers)).status).toBe(403);
  });
});

describe('the name', () => {
  test('comes from the front matter, and its files are stored below it', async () => {
    const { body } = await lab.createSkill({ 'folder/SKILL.md': NAMED, 'folder/references/a.md': 'ä' });
    expect(body).toMatchObject({ name: 'night-watch', source: { type: 'custom' } });
    expect(body.skill_id).toMatch(/^skill_/);
    const { body: version } = await lab.get(`/v1/skills/${body.skill_id}/versions/latest`);
    expect(version).toMatchObject({ skill_id: body.skill_id, name: 'night-watch', description: 'For the night.' });
    const { body: beta } = await lab.get(`/v1/skills/${body.skill_id}`, BETA);
    const stored = join(lab.directory, 'skills', body.skill_id, beta.latest_version_id, 'night-watch');
    expect(readFileSync(join(stored, 'references/a.md'), 'utf8')).toBe('ä');
  });

  test('comes from the folder when the front matter has none', async () => {
    const { body } = await lab.createSkill({ 'from-folder/SKILL.md': 'No front matter.' });
    expect(body.name).toBe('from-folder');
    const { body: other } = await lab.createSkill({ 'from-folder/SKILL.md': '---\ndescription: x\n---\n' });
    expect(other.name).toBe('from-folder');
  });

  test('never changes: a version with another name is refused', async () => {
    const id = await createdId();
    expect((await lab.addVersion(id, { 'elsewhere/SKILL.md': NAMED })).status).toBe(200);
    const { status, body } = await lab.addVersion(id, { 'day-watch/SKILL.md': '' });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('never changes')]);
    expect((await lab.get(`/v1/skills/${id}/versions`)).body.data).toHaveLength(2);
  });
});

describe('versions', () => {
  test('latest is the newest one, and after its deletion the one before', async () => {
    const id = await createdId();
    const second = (await lab.addVersion(id, { 'night-watch/SKILL.md': NAMED })).body.version;
    expect((await lab.get(`/v1/skills/${id}`)).body.latest_version_id).toBe(second);
    expect((await lab.get(`/v1/skills/${id}/versions/latest`)).body.version).toBe(second);
    expect((await lab.send('DELETE', `/v1/skills/${id}/versions/${second}`)).status).toBe(200);
    expect((await lab.get(`/v1/skills/${id}/versions/${second}`)).status).toBe(404);
    expect((await lab.get(`/v1/skills/${id}/versions`)).body.data).toHaveLength(1);
    expect((await lab.send('DELETE', `/v1/skills/${id}/versions/latest`)).status).toBe(200);
    expect((await lab.get(`/v1/skills/${id}/versions/latest`)).status).toBe(404);
    expect((await lab.get(`/v1/skills/${id}`)).body).not.toHaveProperty('latest_version_id');
  });

  test('with the beta value they are epoch timestamps, and latest is none', async () => {
    const id = await createdId();
    const { body } = await lab.get(`/v1/skills/${id}`, BETA);
    expect(body.latest_version_id).toMatch(/^\d{10,}$/);
    const path = `/v1/skills/${id}/versions/${body.latest_version_id}`;
    expect((await lab.get(path, BETA)).body.version).toBe(body.latest_version_id);
    expect((await lab.get(`/v1/skills/${id}/versions/latest`, BETA)).status).toBe(400);
    expect((await lab.get(path)).status).toBe(404);
    const general = (await lab.get(`/v1/skills/${id}`)).body.latest_version_id;
    expect((await lab.get(`/v1/skills/${id}/versions/${general}`, BETA)).status).toBe(404);
    expect((await lab.send('DELETE', path, BETA)).status).toBe(200);
  });

  test('uploads at the same time have different timestamps', async () => {
    const id = await createdId();
    await Promise.all(Array.from({ length: 8 }, () => lab.addVersion(id, { 'night-watch/SKILL.md': NAMED })));
    const { body } = await lab.get(`/v1/skills/${id}/versions`, BETA);
    expect(new Set(body.data.map(({ version }: { readonly version: string }) => version)).size).toBe(9);
  });
});

test('a deleted skill is gone, with its files', async () => {
  const id = await createdId();
  expect(existsSync(join(lab.directory, 'skills', id))).toBe(true);
  expect((await lab.send('DELETE', `/v1/skills/${id}`)).status).toBe(200);
  expect((await lab.get(`/v1/skills/${id}`)).status).toBe(404);
  expect((await lab.send('DELETE', `/v1/skills/${id}`)).status).toBe(404);
  expect(existsSync(join(lab.directory, 'skills', id))).toBe(false);
});

test('skills of the vendor and of a plugin can only be read', async () => {
  const { body } = await lab.get('/v1/skills');
  const listed: readonly Listed[] = body.data;
  const fixed = listed.filter(({ source }) => source.type !== 'custom');
  expect(fixed.map(({ source }) => source.type).toSorted()).toEqual(['anthropic', 'anthropic_example', 'plugin']);
  for (const { skill_id: id, name } of fixed) {
    expect((await lab.addVersion(id, { [`${name}/SKILL.md`]: '' })).status).toBe(403);
    expect((await lab.send('DELETE', `/v1/skills/${id}`)).status).toBe(403);
    expect((await lab.send('DELETE', `/v1/skills/${id}/versions/latest`)).status).toBe(403);
    expect((await lab.get(`/v1/skills/${id}/versions/latest`)).status).toBe(200);
  }
});

describe('an upload is refused', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['without SKILL.md', { 'a/README.md': '' }, 'a/SKILL.md'],
    ['with SKILL.md deeper', { 'a/b/SKILL.md': '' }, 'a/SKILL.md'],
    ['with two folders', { 'a/SKILL.md': '', 'b/x.md': '' }, 'two folders'],
    ['with a file outside a folder', { 'SKILL.md': '' }, 'FOLDER/PATH'],
    ['with a path that leaves the folder', { 'a/SKILL.md': '', 'a/../../x': '' }, 'FOLDER/PATH'],
    ['with a name that is no slug', { 'a/SKILL.md': '---\nname: Night Watch\n---\n' }, 'kebab case'],
    ['with a folder that is no slug', { 'Night_Watch/SKILL.md': '' }, 'kebab case'],
    ['with front matter that is no YAML', { 'a/SKILL.md': '---\nname: [\n---\n' }, 'front matter'],
    ['with a name that is no text', { 'a/SKILL.md': '---\nname: [a]\n---\n' }, 'front matter'],
  ];
  test.each(cases)('%s', async (_title, files, why) => {
    const before = (await lab.get('/v1/skills')).body.data.length;
    const { status, body } = await lab.createSkill(files);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(why)]);
    expect((await lab.get('/v1/skills')).body.data).toHaveLength(before);
  });

  test('in another field, as text, as JSON, and when the form is cut off', async () => {
    const wrong = await lab.send('POST', '/v1/skills', [], formOf('file', { 'a/SKILL.md': '' }));
    expect([wrong.status, wrong.body.error.message]).toEqual([400, expect.stringContaining('files[]')]);
    const text = new FormData();
    text.append('files[]', 'text');
    expect((await lab.send('POST', '/v1/skills', [], text)).status).toBe(400);
    expect((await lab.send('POST', '/v1/skills', [], new FormData())).status).toBe(400);
    expect((await lab.send('POST', '/v1/skills', [], '{}')).status).toBe(415);
    const headers = { 'x-api-key': lab.key, 'content-type': 'multipart/form-data; boundary=b' };
    const cut = '--b\r\nContent-Disposition: form-data; name="files[]"; filename="a/SKILL.md"\r\n\r\ntext';
    const url = `${lab.platform.url}/v1/skills`;
    expect((await fetch(url, { method: 'POST', headers, body: cut })).status).toBe(400);
  });
});

test('a path or a method that the contract does not show, and a mistyped beta value', async () => {
  const id = await createdId();
  for (const path of ['/v1/skill', '/v2/skills', `/v1/skills/${id}/files`, `/v1/skills/${id}/versions/1/x`])
    expect([path, (await lab.get(path)).status]).toEqual([path, 404]);
  expect((await lab.send('PUT', `/v1/skills/${id}`)).status).toBe(405);
  const { status, body } = await lab.get('/v1/skills', ['skills-2025-10-20']);
  expect([status, body.error.message]).toEqual([400, expect.stringContaining('skills-2025-10-02')]);
});
