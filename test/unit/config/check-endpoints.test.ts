// The table of endpoints in config/read-scaling.md has every endpoint, with the parameters that the program takes.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ENDPOINTS, parseCheck } from '../../../src/model/check.ts';

const page = readFileSync(new URL('../../../config/read-scaling.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| `/'));

function takes(endpoint: string, parameter: string): string {
  return parseCheck(`${endpoint}?${parameter}`).kind === 'check' ? 'yes' : 'no';
}

interface Named {
  readonly endpoint: string;
}

function byName(a: Named, b: Named): number {
  return a.endpoint.localeCompare(b.endpoint);
}

test('the page names each endpoint once, and what it takes', () => {
  const told = rows.flatMap((row) => {
    const [, names = '', , lag, tag] = row.split('|').map((cell) => cell.trim());
    return [...names.matchAll(/`([^`]+)`/g)].map(([, endpoint = '']) => ({ endpoint, lag, tag }));
  });
  const expected = ENDPOINTS.map((endpoint) => ({
    endpoint,
    lag: takes(endpoint, 'lag=16MB'),
    tag: takes(endpoint, 'tag_zone=a'),
  }));
  expect(told.toSorted(byName)).toEqual(expected.toSorted(byName));
});
