// YAML with comments: the comments do not change what the text means.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { commentedYaml } from '../../../../src/config/reference/commented-yaml.ts';

const TREE = {
  cluster: { seeds: ['http://pg1:8008', 'http://pg2:8008'], allow: { ports: [1, 2] }, api: {} },
  listeners: [
    { address: '*:5000', pool: 'write' },
    { address: '127.0.0.1:6433', pool: 'read' },
  ],
  'a: key': 'a # text',
  off: 'off',
};

test('keys and items have their comment beside or above them', () => {
  const beside = new Map([
    ['cluster.seeds[0]', 'first'],
    ['cluster.allow.ports', 'both'],
    ['listeners[0]', 'bind'],
    ['listeners[1].pool', 'reads'],
  ]);
  const text = commentedYaml(TREE, { beside, above: new Map([['cluster.allow', 'ports']]), column: 20 });
  expect(text).toBe(`cluster:
  seeds:
    - http://pg1:8008 # first
    - http://pg2:8008
  # ports
  allow:
    ports: [1, 2]    # both
  api: {}
listeners:
  - { address: "*:5000", pool: write } # bind
  - address: 127.0.0.1:6433
    pool: read       # reads
"a: key": "a # text"
off: off
`);
  expect(parse(text)).toEqual(TREE);
});

test('without comments', () => {
  expect(parse(commentedYaml(TREE, {}))).toEqual(TREE);
});

test('a long list has one item a line', () => {
  const seeds = Array.from({ length: 9 }, (_, i) => `http://10.0.0.${i}:8008`);
  expect(commentedYaml({ seeds }, {}).split('\n')).toHaveLength(11);
});
