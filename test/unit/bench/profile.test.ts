// A profile as a sum: each function once, without its callees.
import { expect, test } from 'vitest';
import { allocated, ran } from '../../bench/profile/entries.ts';

function frameOf(functionName: string, url = 'file:///somewhere/dist/proxy/relay.js') {
  return { functionName, url, lineNumber: 9 };
}

test('processor time by function: idle time and the profiler belong to no function', () => {
  const frames = [frameOf('copy'), frameOf('(idle)', ''), frameOf('post', 'node:inspector'), frameOf('copy')];
  const nodes = frames.map((callFrame, id) => ({ id, callFrame }));
  const entries = ran({ nodes, samples: [0, 1, 2, 3, 0], timeDeltas: [10, 500, 70, 20, 5] });
  expect(entries).toEqual([{ name: 'copy', place: 'proxy/relay.js:10', amount: 35 }]);
});

test('bytes by function, over the whole tree', () => {
  const leaf = { callFrame: frameOf('copy'), selfSize: 5, children: [] };
  const head = { callFrame: frameOf('', ''), selfSize: 1, children: [leaf, { ...leaf, children: [leaf] }] };
  expect(allocated({ head }).find(({ name }) => name === 'copy')?.amount).toBe(15);
});
