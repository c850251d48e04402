// The setting `peers`: what it takes, and what its messages say.
import { expect, test } from 'vitest';
import { configOf, load, problemsOf, warningsOf } from '../../../support/values/loading.ts';

test.each([
  ['peers: [pg]', 'peers[0]: pg has no port: write pg:PORT'],
  ['peers: 10.0.0.5:6432', 'peers'],
  ['peers: ["*:6432"]', 'peers[0]: "*" is neither an IP address nor a host name'],
  ['peers: ["0.0.0.0:6432"]', 'peers[0]: 0.0.0.0:6432 is every interface of a host: name the address'],
  ['peers: ["[::]:6432"]', 'peers[0]: [::]:6432 is every interface of a host'],
  ['peers: [a:1, b:1, a:1]', 'peers[2]: a:1 is named already'],
  [`peers: [${Array.from({ length: 17 }, (_, index) => `a:${index + 1}`).join(', ')}]`, 'names more than 16 peers'],
])('%s', (text, problem) => {
  expect(problemsOf(load(text)).join('\n')).toContain(problem);
});

test('it is empty, and takes addresses and names of several', () => {
  expect(configOf(load('')).cancelPeers).toEqual([]);
  const { cancelPeers } = configOf(load('peers: [10.0.0.5:6432, "pointsmen.internal:6432"]'));
  expect(cancelPeers).toEqual([
    { host: '10.0.0.5', port: 6432 },
    { host: 'pointsmen.internal', port: 6432 },
  ]);
});

test('a list of this Pointsman alone is a warning, one with others is none', () => {
  const listeners = 'listeners: [{ address: 10.0.0.5:6432, pool: write }]';
  expect(warningsOf(load(`peers: [10.0.0.5:6432]\n${listeners}`))).toContain('peers: names this Pointsman alone');
  expect(warningsOf(load(`peers: [10.0.0.5:6432, 10.0.0.6:6432]\n${listeners}`))).not.toContain('peers');
});
