import { expect, it } from 'vitest';
import { parseMemberFile, readMemberFile } from '../../../../src/sandbox/manager/member-file.ts';

it('has tags and parameters, and reports the ones without effect', () => {
  const read = parseMemberFile(`
tags:
  noloadbalance: true
  zone: eu-1
  weight: 2
parameters:
  work_mem: 8MB
  max_connections: 20
  port: 1
`);
  expect(read).toMatchObject({
    tags: { noloadbalance: true, zone: 'eu-1', weight: 2 },
    parameters: { work_mem: '8MB', max_connections: '20', port: '1' },
  });
  const { warnings } = read;
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toContain('max_connections of the configuration file is ignored');
});

it('may be empty or absent', async () => {
  const nothing = { tags: {}, parameters: {}, warnings: [] };
  expect(parseMemberFile('')).toEqual(nothing);
  expect(await readMemberFile('/nowhere/pg-1.yml')).toEqual(nothing);
});

it.each([
  ['tags: {', 'not YAML'],
  ['tags: [a]', 'tags: '],
  ['tags: {zone: {of: 1}}', 'tags.zone: '],
  ['just text', 'the file: '],
])('%s is invalid, with the reason', (text, why) => {
  expect(() => parseMemberFile(text)).toThrow(why);
});
