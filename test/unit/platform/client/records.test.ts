// Documents of the platform with more, less and other fields than the interface shows.
import { expect, test } from 'vitest';
import { isReadOnly, readFileId, readList, readSkill, readVersion } from '../../../../src/platform/client/records.ts';

const BARE = { id: 'skill_1', name: undefined, latestVersionId: undefined, sourceType: undefined };

test.each<[unknown, unknown]>([
  [{ skill_id: 'skill_1' }, BARE],
  [{ id: 'skill_1' }, BARE],
  [{ skill_id: 'skill_1', id: 'skill_2' }, BARE],
  [{ skill_id: 7, id: 'skill_1' }, BARE],
  [{ skill: { id: 'skill_1' } }, BARE],
  [{ id: 'request_1', data: { skill_id: 'skill_1' } }, BARE],
  [
    { id: 'skill_1', name: 'run\u001bbook', latest_version_id: '12', source: { type: 'custom', more: 1 } },
    { id: 'skill_1', name: 'run book', latestVersionId: '12', sourceType: 'custom' },
  ],
  [{ id: 'skill_1', name: 7, latest_version_id: 'a b', source: 'custom' }, BARE],
  [{ id: 'file_1' }, undefined],
  [{ id: 'skill_1 --yes' }, undefined],
  [{ id: `skill_${'1'.repeat(300)}` }, undefined],
  [['skill_1'], undefined],
  ['skill_1', undefined],
  [null, undefined],
])('a skill of %j', (document, expected) => {
  expect(readSkill(document)).toEqual(expected);
});

test.each<[unknown, string | undefined]>([
  [{ version: '1759178010641129' }, '1759178010641129'],
  [{ version: 1_759_178_010 }, '1759178010'],
  [{ version: { version: 'v1' } }, 'v1'],
  [{ data: { version: 'v1' } }, 'v1'],
  [{ version: 'a b' }, undefined],
  [{}, undefined],
])('a version of %j', (document, expected) => {
  expect(readVersion(document)?.version).toBe(expected);
});

test.each<[unknown, string | undefined]>([
  [{ file_id: 'file_1' }, 'file_1'],
  [{ id: 'file_1', type: 'file' }, 'file_1'],
  [{ file: { id: 'file_1' } }, 'file_1'],
  [{ id: 'skill_1' }, undefined],
])('a file of %j', (document, expected) => {
  expect(readFileId(document)).toBe(expected);
});

const ONE = { skill_id: 'skill_1' };

test.each<[unknown, number | undefined, boolean]>([
  [[ONE], 1, true],
  [{ data: [ONE] }, 1, true],
  [{ tags: [], skills: [ONE] }, 1, true],
  [{ results: [ONE], has_more: false, next_page: null }, 1, true],
  [{ data: [] }, 0, true],
  [{ data: [ONE], has_more: true }, 1, false],
  [{ data: [ONE], next_page: 'p2' }, 1, false],
  [{ data: [ONE, {}] }, 1, false],
  [{ data: ONE }, undefined, true],
  ['<html>', undefined, true],
])('a list of %j', (document, count, isComplete) => {
  const listed = readList(document, readSkill);
  expect(listed?.entries.length).toBe(count);
  expect(listed?.isComplete ?? true).toBe(isComplete);
});

test.each([
  ['custom', false],
  [undefined, false],
  ['anthropic', true],
  ['anthropic_example', true],
  ['plugin', true],
  ['of tomorrow', true],
])('a skill whose source is %s', (sourceType, expected) => {
  expect(isReadOnly({ ...BARE, sourceType })).toBe(expected);
});
