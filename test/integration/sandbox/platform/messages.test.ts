// Files, agents, and the check of requests for messages at the sandbox's platform.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BETAS, formOf, PlatformLab } from '../../../support/sandbox/platform-lab.ts';
import type { PlatformReply } from '../../../support/sandbox/platform-lab.ts';

let lab: PlatformLab;
beforeAll(async () => {
  lab = await PlatformLab.start();
});
afterAll(async () => {
  await lab.stop();
});

async function asks(model: string, tool: object, betas: readonly string[] = []): Promise<number> {
  return (await lab.message({ model, tools: [tool] }, betas)).status;
}

function agent(body: string, betas: readonly string[] = [BETAS.agents]): Promise<PlatformReply> {
  return lab.send('POST', '/v1/agents', betas, body);
}

const saying = (...content: readonly object[]): object => ({ messages: [{ role: 'user', content }] });
const refersTo = (file: string, type = 'document'): object => ({ type, source: { type: 'file', file_id: file } });

async function uploadedId(name: string, type?: string): Promise<string> {
  const { status, body } = await lab.uploadFile(name, type);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.file_id;
}

describe('files', () => {
  test('an upload needs the beta value, and is stored with its name', async () => {
    expect((await lab.uploadFile('a.txt', 'text/plain', [])).status).toBe(400);
    expect((await lab.uploadFile('a.txt', 'text/plain', [BETAS.skills])).status).toBe(400);
    const id = await uploadedId('2026-11-22-1.txt');
    expect(id).toMatch(/^file_/);
    expect(readFileSync(join(lab.directory, 'files', id, '2026-11-22-1.txt'), 'utf8')).toBe('content');
  });

  test('a request that refers to it needs the beta value, too', async () => {
    const file = await uploadedId('a.txt');
    expect((await lab.message(saying(refersTo(file)))).status).toBe(400);
    const { status, body } = await lab.message(saying(refersTo(file)), [BETAS.files]);
    expect([status, body.files]).toEqual([200, [{ file_id: file, filename: 'a.txt' }]]);
    const nested = saying({ type: 'tool_result', tool_use_id: 'toolu_1', content: [refersTo(file)] });
    expect((await lab.message(nested)).status).toBe(400);
  });

  test('an unknown file is refused', async () => {
    expect((await lab.message(saying(refersTo('file_none')), [BETAS.files])).status).toBe(404);
  });

  const blocks: readonly (readonly [string, string, number])[] = [
    ['text/plain', 'document', 200],
    ['text/plain', 'image', 400],
    ['application/pdf', 'document', 200],
    ['application/pdf', 'image', 400],
    ['image/png', 'image', 200],
    ['image/png', 'document', 400],
    ['application/zip', 'document', 400],
  ];
  test.each(blocks)('%s in a block of type %s: %i', async (type, block, status) => {
    const file = await uploadedId('a.bin', type);
    expect((await lab.message(saying(refersTo(file, block)), [BETAS.files])).status).toBe(status);
  });

  test('refuses a path as name, two files at once, and every method but POST', async () => {
    expect((await lab.uploadFile('../a.txt')).status).toBe(400);
    const two = formOf('file', { 'a.txt': '', 'b.txt': '' });
    expect((await lab.send('POST', '/v1/files', [BETAS.files], two)).status).toBe(400);
    expect((await lab.send('GET', '/v1/files', [BETAS.files])).status).toBe(405);
  });
});

describe('a request with a skill', () => {
  const tool = { type: 'code_execution_20260521', name: 'code_execution' };
  const betas = [BETAS.code, BETAS.skills];
  let skill: string;
  beforeAll(async () => {
    ({ skill_id: skill } = (await lab.createSkill({ 'night-watch/SKILL.md': '' })).body);
  });
  const withSkill = (version = 'latest', id = skill): object => ({
    container: { skills: [{ skill_id: id, version }] },
    tools: [tool],
  });

  test('has container, tool and both beta values; the version is latest or named', async () => {
    const { status, body } = await lab.message(withSkill(), betas);
    expect([status, body.skills]).toMatchObject([200, [{ skill_id: skill, name: 'night-watch' }]]);
    expect((await lab.message(withSkill(body.skills[0].version), betas)).status).toBe(200);
    const general = (await lab.get(`/v1/skills/${skill}`)).body.latest_version_id;
    expect((await lab.message(withSkill(general), betas)).status).toBe(200);
  });

  const lacking: readonly (readonly [string, () => object, readonly string[]])[] = [
    ['the container', () => ({ tools: [tool] }), betas],
    ['the tool', () => ({ ...withSkill(), tools: [] }), betas],
    ['the name of the tool', () => ({ ...withSkill(), tools: [{ type: tool.type }] }), betas],
    ['an up-to-date tool', () => ({ ...withSkill(), tools: [{ ...tool, type: 'code_execution_20250825' }] }), betas],
    ['the beta value of code execution', withSkill, [BETAS.skills]],
    ['the beta value of skills', withSkill, [BETAS.code]],
    ['both beta values', withSkill, []],
    ['the version', () => ({ ...withSkill(), container: { skills: [{ skill_id: skill }] } }), betas],
  ];
  test.each(lacking)('is refused without %s', async (_what, fields, values) => {
    expect((await lab.message(fields(), values)).status).toBe(400);
  });

  test('an unknown skill or version is refused', async () => {
    expect((await lab.message(withSkill('latest', 'skill_none'), betas)).status).toBe(404);
    expect((await lab.message(withSkill('1'), betas)).status).toBe(404);
  });

  test('code execution without a skill needs none of it', async () => {
    expect((await lab.message({ tools: [tool] }, [BETAS.code])).status).toBe(200);
  });
});

test.each(['model', 'max_tokens', 'messages'])('a request without %s is refused', async (field) => {
  const { status, body } = await lab.message({ [field]: undefined });
  expect([status, body.error.message]).toEqual([400, expect.stringContaining(field)]);
});

test('a body that is no JSON is refused', async () => {
  expect((await lab.send('POST', '/message-check', [], 'no JSON')).status).toBe(400);
  expect((await lab.send('POST', '/message-check', [], formOf('a', { b: '' }))).status).toBe(415);
});

describe('the computer tool', () => {
  const toolset = { type: 'computer_toolset_20260801', name: 'computer' };
  const older = { type: 'computer_20251124', name: 'computer', display_width_px: 1280, display_height_px: 800 };

  test('newer models take the toolset without a beta value', async () => {
    for (const model of ['opus-5', 'sonnet-5', 'opus-4-8', 'fable-5', 'mythos-5'])
      expect([model, await asks(`vendor-${model}`, toolset)]).toEqual([model, 200]);
    expect(await asks('vendor-haiku-3', toolset)).toBe(400);
  });

  test('older models take the older tool, with its beta value', async () => {
    for (const model of ['opus-4-7', 'opus-4-6', 'sonnet-4-6', 'opus-4-5']) {
      expect([model, await asks(`vendor-${model}`, older, [BETAS.computer])]).toEqual([model, 200]);
      expect([model, await asks(`vendor-${model}`, older)]).toEqual([model, 400]);
      expect([model, await asks(`vendor-${model}`, toolset)]).toEqual([model, 400]);
    }
  });

  test('the toolset is called computer, and has no width or height', async () => {
    expect(await asks('vendor-opus-5', { ...toolset, name: 'screen' })).toBe(400);
    expect(await asks('vendor-opus-5', { ...toolset, display_width_px: 1280 })).toBe(400);
    expect(await asks('vendor-opus-5', { ...toolset, display_height_px: 800 })).toBe(400);
  });

  const used = { type: 'tool_use', id: 'toolu_1', name: 'screenshot', input: {} };
  const whole = {
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    toolset_name: 'computer',
    is_error: false,
    content: 'x',
  };
  const turn = (results: readonly object[], uses: readonly object[] = [used]): Promise<number> => {
    const messages = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: uses },
      { role: 'user', content: results },
    ];
    return lab.message({ tools: [toolset], messages }).then(({ status }) => status);
  };

  test('each block has one whole result in the next message', async () => {
    expect(await turn([whole])).toBe(200);
    expect(await turn([whole, { ...whole, tool_use_id: 'toolu_2' }], [used, { ...used, id: 'toolu_2' }])).toBe(200);
    expect(await turn([whole], [used, { ...used, id: 'toolu_2' }])).toBe(400);
    expect(await turn([])).toBe(400);
    expect(await turn([whole, whole])).toBe(400);
    expect(await turn([], [{ ...used, name: 'another_tool' }])).toBe(200);
  });

  test('after a failure no block was executed, and each result says so', async () => {
    const uses = ['toolu_1', 'toolu_2', 'toolu_3'].map((id) => ({ ...used, id }));
    const results = (...content: readonly (string | readonly object[])[]): readonly object[] =>
      uses.map(({ id }, index) => ({
        ...whole,
        tool_use_id: id,
        is_error: content[index] !== 'ok',
        content: content[index],
      }));
    const skipped = 'Not executed: an earlier computer action of this turn failed.';
    expect(await turn(results('ok', 'no window', skipped), uses)).toBe(200);
    expect(await turn(results('ok', 'no window', [{ type: 'text', text: skipped }]), uses)).toBe(200);
    expect(await turn(results('ok', 'no window', 'ok'), uses)).toBe(400);
    expect(await turn(results('ok', 'no window', 'no window'), uses)).toBe(400);
    expect(await turn(results('ok', 'ok', 'ok').toReversed(), uses)).toBe(400);
  });

  test.each(['hold_key', 'wait'])('%s of more than 300 s has no good result', async (name) => {
    const lasting = (duration: number) => [{ ...used, name, input: { duration } }];
    expect(await turn([whole], lasting(300))).toBe(200);
    expect(await turn([whole], lasting(301))).toBe(400);
    expect(await turn([{ ...whole, is_error: true }], lasting(301))).toBe(200);
  });

  test.each(['toolset_name', 'is_error', 'content'])('a result without %s does not pass', async (field) => {
    expect(await turn([{ ...whole, [field]: undefined }])).toBe(400);
  });
});

test('an agent needs its own beta value, and a JSON object', async () => {
  expect((await agent('{"name":"night-watch"}')).body).toMatchObject({ name: 'night-watch', id: expect.any(String) });
  expect((await agent('{}', [])).status).toBe(400);
  expect((await agent('[]')).status).toBe(400);
});
