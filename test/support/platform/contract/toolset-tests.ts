// A test for each line of contract 3 about the executor of the computer toolset, on a screen without pixels. Zoom at
// the original resolution, and what each member does, is tested on a real page.
import { expect } from 'vitest';
import { MEMBERS } from '../../../../src/platform/computer/tool-members.ts';
import type { ToolAction } from '../../../../src/platform/computer/tool-members.ts';
import { runTurn } from '../../../../src/platform/computer/run-turn.ts';
import type { AgentScreen } from '../../../../src/platform/computer/agent-screen.ts';
import { computerFragment } from '../../../../src/platform/fragments.ts';
import { check, isRefused, isSuccess, NEWER_MODEL } from './target.ts';
import type { PlatformTarget, Reply } from './target.ts';

type Block = readonly [member: string, input?: Readonly<Record<string, unknown>>];

const AT = { coordinate: [10, 20] };
const EVERY: readonly Block[] = [
  ['screenshot'],
  ['zoom', { region: [0, 0, 100, 50] }],
  ['left_click', AT],
  ['right_click', AT],
  ['middle_click', AT],
  ['double_click', AT],
  ['triple_click', AT],
  ['mouse_move', AT],
  ['left_click_drag', { start_coordinate: [1, 2], ...AT }],
  ['left_mouse_down'],
  ['left_mouse_up'],
  ['cursor_position'],
  ['scroll', { ...AT, scroll_direction: 'down', scroll_amount: 3 }],
  ['type', { text: 'pg-1' }],
  ['key', { text: 'Return' }],
  ['hold_key', { text: 'shift', duration: 1 }],
  ['wait', { duration: 1 }],
];
const MIDDLE: readonly Block[] = [
  ['screenshot'],
  ['left_click', AT],
  ['type', { text: 'pg-1' }],
  ['wait', { duration: 1 }],
];

/** Every action works, but for the one with the number `failing`. */
async function perform(blocks: readonly Block[], failing?: number) {
  const performed: ToolAction[] = [];
  const screen: AgentScreen = {
    size: { width: 1280, height: 800 },
    perform: async (action) => {
      performed.push(action);
      if (performed.length - 1 === failing) throw new Error('the page is gone');
      return 'done';
    },
  };
  const uses = blocks.map(([member, input = {}], i) => ({ id: `toolu_${i + 1}`, member, input }));
  return { performed, results: await runTurn(uses, screen) };
}

/** The request after the turn, with these results. */
function answered(on: PlatformTarget, blocks: readonly Block[], results: readonly object[]): Promise<Reply> {
  const uses = blocks.map(([name, input = {}], i) => ({ type: 'tool_use', id: `toolu_${i + 1}`, name, input }));
  const messages = [
    { role: 'user', content: 'Which member is the primary?' },
    { role: 'assistant', content: uses },
    { role: 'user', content: results },
  ];
  return check(on, [computerFragment(NEWER_MODEL)], { body: { messages } });
}

export const TOOLSET_TESTS = {
  async tool_use_id(on: PlatformTarget) {
    const { results } = await perform(MIDDLE);
    expect(results.map((result) => result.tool_use_id)).toEqual(['toolu_1', 'toolu_2', 'toolu_3', 'toolu_4']);
    expect(await answered(on, MIDDLE, results)).toSatisfy(isSuccess);
  },
  async member_tools(on: PlatformTarget) {
    expect(EVERY.map(([member]) => member).toSorted()).toEqual([...MEMBERS].toSorted());
    expect(MEMBERS).toHaveLength(17);
    const { performed, results } = await perform(EVERY);
    expect(performed.map(({ member }) => member)).toEqual(EVERY.map(([member]) => member));
    expect(await answered(on, EVERY, results)).toSatisfy(isSuccess);
    expect((await perform([['browse']])).results).toMatchObject([{ is_error: true }]);
  },
  async zoom_area() {
    const { performed } = await perform([['zoom', { region: [10, 20, 110, 70] }]]);
    expect(performed).toEqual([{ member: 'zoom', area: { x: 10, y: 20, width: 100, height: 50 } }]);
  },
  async most_seconds() {
    for (const input of [{ duration: 300 }, { duration: 0.5 }]) {
      const blocks: readonly Block[] = [
        ['wait', input],
        ['hold_key', { text: 'shift', ...input }],
      ];
      expect((await perform(blocks)).performed).toHaveLength(2);
    }
    for (const member of ['wait', 'hold_key']) {
      const { performed, results } = await perform([[member, { text: 'shift', duration: 300.1 }]]);
      expect(performed).toEqual([]);
      expect(results).toMatchObject([{ is_error: true }]);
    }
  },
  async in_order() {
    const { performed, results } = await perform(MIDDLE);
    expect(performed.map(({ member }) => member)).toEqual(['screenshot', 'left_click', 'type', 'wait']);
    expect(results.map((result) => result.is_error)).toEqual([false, false, false, false]);
  },
  async first_failure() {
    for (const failing of [0, 1, 2]) {
      const { performed, results } = await perform(MIDDLE, failing);
      expect(performed).toHaveLength(failing + 1);
      expect(results.map((result) => result.is_error)).toEqual(MIDDLE.map((_, i) => i >= failing));
    }
  },
  async not_executed(on: PlatformTarget) {
    const { results } = await perform(MIDDLE, 1);
    expect(results[1]?.content).not.toContain('earlier computer action');
    for (const result of results.slice(2)) {
      expect(result.is_error).toBe(true);
      expect(result.content).toContain('an earlier computer action of this turn failed');
    }
    expect(await answered(on, MIDDLE, results)).toSatisfy(isSuccess);
  },
  async every_result(on: PlatformTarget) {
    for (const failing of [undefined, 0, 2]) {
      const { results } = await perform(MIDDLE, failing);
      expect(new Set(results.map((result) => result.toolset_name))).toEqual(new Set(['computer']));
      expect(await answered(on, MIDDLE, results)).toSatisfy(isSuccess);
    }
    // A result with its id and content alone.
    const { results } = await perform(MIDDLE);
    const bare = results.map(({ type, tool_use_id, content }) => ({ type, tool_use_id, content }));
    expect(await answered(on, MIDDLE, bare)).toSatisfy(isRefused);
  },
};
