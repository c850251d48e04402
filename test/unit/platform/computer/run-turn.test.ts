// A turn of blocks against a screen that records: order, the first failure, and the form of the results.
import { describe, expect, test } from 'vitest';
import { MEMBERS } from '../../../../src/platform/computer/tool-members.ts';
import type { ToolAction } from '../../../../src/platform/computer/tool-members.ts';
import { runTurn } from '../../../../src/platform/computer/run-turn.ts';
import type { ToolUse } from '../../../../src/platform/computer/read-turn.ts';
import type { AgentScreen, ScreenResult } from '../../../../src/platform/computer/agent-screen.ts';

/** An input for each member. */
const INPUTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  zoom: { region: [0, 0, 100, 50] },
  mouse_move: { coordinate: [1, 2] },
  left_click_drag: { coordinate: [1, 2] },
  scroll: { scroll_direction: 'up', scroll_amount: 1 },
  type: { text: 'a' },
  key: { text: 'Return' },
  hold_key: { text: 'shift', duration: 300 },
  wait: { duration: 300 },
};

const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } } as const;

function recording(fails: (action: ToolAction) => string | undefined = () => undefined): AgentScreen & {
  readonly done: ToolAction[];
} {
  const done: ToolAction[] = [];
  return {
    size: { width: 1280, height: 800 },
    done,
    perform: async (action): Promise<ScreenResult> => {
      done.push(action);
      const why = fails(action);
      if (why !== undefined) throw new Error(why);
      return action.member === 'screenshot' || action.member === 'zoom' ? [IMAGE] : `did ${action.member}`;
    },
  };
}

function block(
  member: string,
  input: Readonly<Record<string, unknown>> = INPUTS[member] ?? {},
  id = 'toolu_1',
): ToolUse {
  return { id, member, input };
}

function turn(...members: readonly string[]): readonly ToolUse[] {
  return members.map((member, index) => block(member, undefined, `toolu_${index + 1}`));
}

describe('the results of a turn', () => {
  test('there are 17 members, and each is performed', async () => {
    const screen = recording();
    const results = await runTurn(turn(...MEMBERS), screen);
    expect(MEMBERS).toHaveLength(17);
    expect(screen.done.map(({ member }) => member)).toEqual(MEMBERS);
    expect(results.filter(({ is_error }) => is_error)).toEqual([]);
  });

  test('each block gets one result, in the same order, and each names the toolset', async () => {
    const results = await runTurn(turn('left_click', 'screenshot', 'wait'), recording());
    const common = { type: 'tool_result', toolset_name: 'computer', is_error: false };
    expect(results).toEqual([
      { ...common, tool_use_id: 'toolu_1', content: 'did left_click' },
      { ...common, tool_use_id: 'toolu_2', content: [IMAGE] },
      { ...common, tool_use_id: 'toolu_3', content: 'did wait' },
    ]);
  });

  test('nothing happens after the first failure, and each later block gets an error that says so', async () => {
    const screen = recording(({ member }) => (member === 'type' ? 'the page is gone\nCall log:' : undefined));
    const results = await runTurn(turn('left_click', 'type', 'key', 'screenshot'), screen);
    expect(screen.done.map(({ member }) => member)).toEqual(['left_click', 'type']);
    const skipped = 'Not executed: an earlier computer action of this turn failed (toolu_2).';
    expect(results.map(({ is_error, content }) => [is_error, content])).toEqual([
      [false, 'did left_click'],
      [true, 'the page is gone'],
      [true, skipped],
      [true, skipped],
    ]);
    expect(results.map(({ toolset_name }) => toolset_name)).toEqual(['computer', 'computer', 'computer', 'computer']);
  });

  test('an error is one printable line of limited length', async () => {
    const screen = recording(() => `\u001b[31m${'x'.repeat(2000)}`);
    const [result] = await runTurn(turn('wait'), screen);
    expect(result?.content).toMatch(/^ \[31mx+$/);
    expect(result?.content).toHaveLength(500);
  });

  test('a turn without blocks has no results', async () => {
    expect(await runTurn([], recording())).toEqual([]);
  });
});

const POINT = 'coordinate is two numbers of pixels, [x, y]';
const REGION = 'region is four numbers of pixels, [left, top, right, bottom]';
const SECONDS = 'duration is a number from 0 to 300';

test.each([
  ['press', {}, /^there is no member "press": use screenshot, zoom,/],
  [
    'screenshot',
    { display_width_px: 1280 },
    'display_width_px is not accepted: positions are pixels of the screenshot',
  ],
  ['screenshot', { height: 800 }, 'height is not accepted: positions are pixels of the screenshot'],
  ['mouse_move', {}, POINT],
  ['left_click', { coordinate: [1] }, POINT],
  ['left_click', { coordinate: ['1', '2'] }, POINT],
  ['left_click', { coordinate: [1280, 0] }, /is outside of the screen: x is below 1280, y below 800/],
  ['left_click', { coordinate: [0, -1] }, /is outside of the screen/],
  ['left_click', { text: 'hyper' }, /^unknown key "hyper"/],
  ['left_click_drag', { start_coordinate: [0, 900], coordinate: [1, 1] }, /^start_coordinate \[0, 900\] is outside/],
  ['zoom', {}, REGION],
  ['zoom', { region: [10, 10, 10, 20] }, /is no area within the screen of 1280 x 800/],
  ['zoom', { region: [0, 0, 1281, 20] }, /is no area within the screen/],
  ['scroll', { scroll_direction: 'in', scroll_amount: 1 }, 'scroll_direction is up, down, left, right'],
  ['scroll', { scroll_direction: 'up', scroll_amount: 101 }, 'scroll_amount is a number from 0 to 100'],
  ['type', {}, 'text is missing'],
  ['type', { text: 7 }, 'text is missing'],
  ['type', { text: 'x'.repeat(10_001) }, 'text is longer than 10000 characters'],
  ['key', { text: ' ' }, 'text names no key'],
  ['key', { text: 'ctrl+a é' }, 'unknown key "é": write a, Return, Page_Down or ctrl+a'],
  ['key', { text: 'a '.repeat(101) }, /^text names 101 keys: at most 100/],
  ['hold_key', { text: 'a', duration: 301 }, SECONDS],
  ['hold_key', { text: 'a' }, SECONDS],
  ['wait', { duration: 300.1 }, SECONDS],
  ['wait', { duration: -1 }, SECONDS],
  ['wait', { duration: '5' }, SECONDS],
])('%s with %j is refused and not performed', async (member, input, why) => {
  const screen = recording();
  const [result] = await runTurn([block(member, input)], screen);
  expect(result?.is_error).toBe(true);
  if (typeof why === 'string') expect(result?.content).toBe(why);
  else expect(result?.content).toMatch(why);
  expect(screen.done).toEqual([]);
});

test.each([
  ['left_click', { coordinate: [3, 4], text: 'ctrl+shift' }, { at: { x: 3, y: 4 }, held: ['Control', 'Shift'] }],
  ['right_click', {}, { at: undefined, held: [] }],
  ['zoom', { region: [10, 20, 110, 70] }, { area: { x: 10, y: 20, width: 100, height: 50 } }],
  ['left_click_drag', { start_coordinate: [1, 2], coordinate: [3, 4] }, { from: { x: 1, y: 2 }, to: { x: 3, y: 4 } }],
  [
    'scroll',
    { scroll_direction: 'left', scroll_amount: 2 },
    { at: undefined, direction: 'left', notches: 2, held: [] },
  ],
  [
    'key',
    { text: 'ctrl+a Page_Down ctrl++ KP_Enter F5' },
    {
      chords: [['Control', 'a'], ['PageDown'], ['Control', '+'], ['Enter'], ['F5']],
    },
  ],
  ['hold_key', { text: 'Down', duration: 0.5 }, { chord: ['ArrowDown'], seconds: 0.5 }],
])('%s with %j', async (member, input, wanted) => {
  const screen = recording();
  await runTurn([block(member, input)], screen);
  expect(screen.done).toEqual([{ member, ...wanted }]);
});
