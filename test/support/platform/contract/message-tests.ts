// A test for each line of contract 3 about message requests: skills in use, and the computer toolset.
import { expect } from 'vitest';
import {
  computerFragment,
  messageRequest,
  oneActionFragment,
  skillsFragment,
} from '../../../../src/platform/fragments.ts';
import { BETA, check, clientOf, isRefused, isSuccess, NEWER_MODEL, send, withSkill } from './target.ts';
import type { PlatformTarget } from './target.ts';

const NEWER = ['opus-5', 'sonnet-5', 'opus-4-8', 'fable-5', 'mythos-5'];
const OLDER = ['opus-4-7', 'opus-4-6', 'sonnet-4-6', 'opus-4-5'];
const TOOLSET = { type: 'computer_toolset_20260801', name: 'computer' };
const USE = { type: 'tool_use', id: 'toolu_1', name: 'screenshot', input: {} };
const RESULT = {
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  toolset_name: 'computer',
  is_error: false,
  content: 'The screen is empty.',
};

const usingSkill = (id: string, version = 'latest') => skillsFragment([{ skill_id: id, version }]);

/** A turn of the toolset with its result. */
function turn(on: PlatformTarget, result: object) {
  const messages = [
    { role: 'user', content: 'What is on the screen?' },
    { role: 'assistant', content: [USE] },
    { role: 'user', content: [result] },
  ];
  return check(on, [computerFragment(NEWER_MODEL)], { body: { messages } });
}

export const MESSAGE_TESTS = {
  async tool_definition(on: PlatformTarget) {
    expect(computerFragment(NEWER_MODEL)?.tools).toEqual([TOOLSET]);
    expect(await check(on, [], { body: { tools: [TOOLSET] } })).toSatisfy(isSuccess);
    expect(await check(on, [], { body: { tools: [{ ...TOOLSET, name: 'screen' }] } })).toSatisfy(isRefused);
  },
  async tool_result_fields(on: PlatformTarget) {
    expect(await turn(on, RESULT)).toSatisfy(isSuccess);
    expect(await turn(on, { ...RESULT, tool_use_id: 'toolu_2' })).toSatisfy(isRefused);
  },
  async toolset_name(on: PlatformTarget) {
    const { toolset_name: _, ...bare } = RESULT;
    expect(await turn(on, bare)).toSatisfy(isRefused);
    expect(await turn(on, { ...RESULT, toolset_name: 'browser' })).toSatisfy(isRefused);
  },
  async container_latest(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => expect(await check(on, [usingSkill(id)])).toSatisfy(isSuccess));
  },
  async container_version(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      const [only] = (await clientOf(on, 'beta').versions(id)).entries;
      expect(await check(on, [usingSkill(id, only?.version)])).toSatisfy(isSuccess);
      expect(await check(on, [usingSkill(id, '1')])).toSatisfy(isRefused);
      expect(await check(on, [usingSkill('skill_of_nobody')])).toSatisfy(isRefused);
    });
  },
  async skill_container(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      expect(await check(on, [usingSkill(id)], { body: { container: undefined } })).toSatisfy(isRefused);
    });
  },
  async skill_tool(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      const other = [{ type: 'code_execution_20260521', name: 'python' }];
      expect(await check(on, [usingSkill(id)], { body: { tools: undefined } })).toSatisfy(isRefused);
      expect(await check(on, [usingSkill(id)], { body: { tools: other } })).toSatisfy(isRefused);
    });
  },
  async skill_beta_code(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      expect(await check(on, [usingSkill(id)], { without: BETA.code })).toSatisfy(isRefused);
    });
  },
  async skill_beta_skills(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      expect(await check(on, [usingSkill(id)], { without: BETA.skills })).toSatisfy(isRefused);
    });
  },
  async message_fields(on: PlatformTarget) {
    expect(await check(on, [])).toSatisfy(isSuccess);
    for (const field of ['model', 'max_tokens', 'messages']) {
      expect(await check(on, [], { body: { [field]: undefined } })).toSatisfy(isRefused);
    }
  },
  async message_path() {
    // The fragments are data: no path, no address, no key.
    const { headers, body } = messageRequest('vendor-beta', {
      model: NEWER_MODEL,
      maxTokens: 512,
      text: 'Why?',
      fragments: [usingSkill('skill_1')],
    });
    expect(Object.keys(headers)).toEqual(['vendor-beta']);
    expect(JSON.stringify(body)).not.toContain('/v1/');
  },
  async toolset_without_beta(on: PlatformTarget) {
    const fragment = computerFragment(NEWER_MODEL);
    expect(fragment?.betas).toEqual([]);
    expect(await check(on, [fragment])).toSatisfy(isSuccess);
  },
  async sizes_rejected(on: PlatformTarget) {
    for (const size of ['display_width_px', 'display_height_px']) {
      const tools = [{ ...TOOLSET, [size]: 1280 }];
      expect(await check(on, [], { body: { tools } })).toSatisfy(isRefused);
    }
    const fragment = computerFragment(NEWER_MODEL, { display_width_px: 1280, display_height_px: 800 });
    expect(await check(on, [fragment])).toSatisfy(isSuccess);
  },
  async one_action(on: PlatformTarget) {
    expect(oneActionFragment().toolChoice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(await check(on, [computerFragment(NEWER_MODEL), oneActionFragment()])).toSatisfy(isSuccess);
  },
  async newer_models(on: PlatformTarget) {
    for (const model of NEWER.map((name) => `vendor-${name}`)) {
      const fragment = computerFragment(model);
      expect(fragment?.tools).toEqual([TOOLSET]);
      expect(await check(on, [fragment], { model })).toSatisfy(isSuccess);
    }
    expect(computerFragment('vendor-opus-3')).toBeUndefined();
  },
  async older_models(on: PlatformTarget) {
    for (const model of OLDER.map((name) => `vendor-${name}`)) {
      const fragment = computerFragment(model);
      expect(fragment?.tools).toEqual([{ type: 'computer_20251124', name: 'computer' }]);
      expect(await check(on, [fragment], { model })).toSatisfy(isSuccess);
      expect(await check(on, [computerFragment(NEWER_MODEL)], { model })).toSatisfy(isRefused);
    }
  },
  async older_beta(on: PlatformTarget) {
    const model = 'vendor-opus-4-5';
    expect(await check(on, [computerFragment(model)], { model, without: BETA.computer })).toSatisfy(isRefused);
    const { headers } = messageRequest(on.betaHeader, {
      model,
      maxTokens: 512,
      text: 'Why?',
      fragments: [computerFragment(model) ?? { betas: [] }],
    });
    expect(headers).toEqual({ [on.betaHeader]: BETA.computer });
    expect(await send(on, 'POST', on.messageCheck, [], '{}')).toSatisfy(isRefused);
  },
};
