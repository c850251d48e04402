// Each part of a message request brings its beta values.
import { expect, test } from 'vitest';
import {
  computerFragment,
  fileFragment,
  messageRequest,
  oneActionFragment,
  skillsFragment,
} from '../../../src/platform/fragments.ts';
import type { Fragment } from '../../../src/platform/fragments.ts';

const SKILL = { skill_id: 'skill_1', version: 'latest' };

function requestOf(...fragments: readonly (Fragment | undefined)[]) {
  const known = fragments.filter((fragment) => fragment !== undefined);
  return messageRequest('vendor-beta', { model: 'm', maxTokens: 1024, text: 'Why?', fragments: known });
}

test('text alone needs no beta value', () => {
  expect(requestOf()).toEqual({
    headers: {},
    body: { model: 'm', max_tokens: 1024, messages: [{ role: 'user', content: [{ type: 'text', text: 'Why?' }] }] },
  });
});

test('a skill brings the container, the tool and both beta values', () => {
  const { headers, body } = requestOf(skillsFragment([SKILL]));
  expect(headers).toEqual({ 'vendor-beta': 'code-execution-2025-08-25,skills-2025-10-02' });
  expect(body).toMatchObject({
    container: { skills: [SKILL] },
    tools: [{ type: 'code_execution_20260521', name: 'code_execution' }],
  });
});

test.each([
  ['text/plain', 'document'],
  ['text/plain; charset=utf-8', 'document'],
  ['application/pdf', 'document'],
  ['image/png', 'image'],
  ['IMAGE/JPEG', 'image'],
])('a file of %s is a block of type %s', (mediaType, type) => {
  const { headers, body } = requestOf(fileFragment('file_1', mediaType));
  expect(headers).toEqual({ 'vendor-beta': 'files-api-2025-04-14' });
  const content = [
    { type, source: { type: 'file', file_id: 'file_1' } },
    { type: 'text', text: 'Why?' },
  ];
  expect(body['messages']).toEqual([{ role: 'user', content }]);
});

test.each(['application/zip', 'image', 'text', 'ximage/png', 'application/pdfx', ''])(
  'no block for %j',
  (mediaType) => {
    expect(fileFragment('file_1', mediaType)).toBeUndefined();
  },
);

test.each(['opus-5', 'sonnet-5', 'opus-4-8', 'fable-5', 'mythos-5'])('the newer computer tool for %s', (model) => {
  const fragment = computerFragment(`vendor-${model}`, { display_width_px: 1280 });
  expect(fragment).toEqual({ tools: [{ type: 'computer_toolset_20260801', name: 'computer' }], betas: [] });
});

test.each(['opus-4-7', 'opus-4-6', 'sonnet-4-6', 'opus-4-5'])('the older computer tool for %s', (model) => {
  const { headers, body } = requestOf(computerFragment(`vendor-${model}`, { display_width_px: 1280 }));
  expect(headers).toEqual({ 'vendor-beta': 'computer-20251124-api' });
  expect(body['tools']).toEqual([{ display_width_px: 1280, type: 'computer_20251124', name: 'computer' }]);
});

test.each(['vendor-opus-4', 'vendor-opus-4-4', 'vendor-lopus-5', 'opus-5', ''])('no computer tool for %j', (model) => {
  expect(computerFragment(model)).toBeUndefined();
});

test('one action a turn', () => {
  const { headers, body } = requestOf(computerFragment('vendor-opus-5'), oneActionFragment());
  expect(body['tool_choice']).toEqual({ type: 'auto', disable_parallel_tool_use: true });
  expect(headers).toEqual({});
});

test('all of it together: every beta value once', () => {
  const file = fileFragment('file_1', 'text/plain');
  const { headers, body } = requestOf(file, file, skillsFragment([SKILL]), computerFragment('vendor-opus-4-5'));
  const names = 'files-api-2025-04-14,code-execution-2025-08-25,skills-2025-10-02,computer-20251124-api';
  expect(headers).toEqual({ 'vendor-beta': names });
  expect(body['tools']).toHaveLength(2);
});
