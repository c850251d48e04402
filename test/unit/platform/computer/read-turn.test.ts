// The forms in which a turn arrives, and lines that are no turn.
import { expect, test } from 'vitest';
import { readTurn } from '../../../../src/platform/computer/read-turn.ts';

const CLICK = { type: 'tool_use', id: 'toolu_1', name: 'left_click', input: { coordinate: [1, 2] } };
const READ = { id: 'toolu_1', member: 'left_click', input: { coordinate: [1, 2] } };

function read(value: unknown) {
  return readTurn(JSON.stringify(value));
}

test.each([
  ['an array of blocks', [CLICK]],
  ['a message', { role: 'assistant', content: [{ type: 'text', text: 'I click.' }, CLICK] }],
  ['one block', CLICK],
  ['a block that names the toolset', [{ ...CLICK, toolset_name: 'computer' }]],
  ['beside a block of another tool', [{ type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: {} }, CLICK]],
  ['beside a block of another toolset', [CLICK, { ...CLICK, id: 'toolu_2', toolset_name: 'browser' }]],
])('%s is a turn', (_, value) => {
  expect(read(value)).toEqual([READ]);
});

test('a name that no member has is a mistake only if the block names the toolset', () => {
  const block = { ...CLICK, name: 'left_clik', toolset_name: 'computer' };
  expect(read([block])).toEqual([{ ...READ, member: 'left_clik' }]);
});

test('the member of the older tool type is the action of its input', () => {
  const input = { action: 'left_click', coordinate: [1, 2] };
  expect(read([{ ...CLICK, name: 'computer', input }])).toEqual([{ ...READ, input }]);
});

test('a block without input, and a turn without blocks', () => {
  const shot = { type: 'tool_use', id: 'toolu_1', name: 'screenshot' };
  expect(read([shot])).toEqual([{ id: 'toolu_1', member: 'screenshot', input: {} }]);
  expect(read([])).toEqual([]);
});

test.each([
  ['{"type":', /^this is no turn\. Write one turn a line/],
  ['7', /^this is no turn/],
  ['null', /^this is no turn/],
  ['{"type":"text"}', /^this is no turn/],
  ['[7]', /^block 1 is no object/],
  [JSON.stringify([{ ...CLICK, id: '' }]), /^block 1 has no id$/],
  [JSON.stringify([CLICK, CLICK]), /^block 2 repeats the id of an earlier block$/],
  [JSON.stringify([{ ...CLICK, name: undefined }]), /^block 1 has no name$/],
  [JSON.stringify([{ ...CLICK, input: [] }]), /^the input of block 1 is no object$/],
])('%s is no turn', (line, why) => {
  expect(readTurn(line)).toMatch(why);
});
