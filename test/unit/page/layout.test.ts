// The picture: everything inside its frame, nothing on top of another box, for few and many members at every width.
import { describe, expect, test } from 'vitest';
import { layOut } from '../../../src/page/view/layout.ts';
import type { Box } from '../../../src/page/view/layout.ts';
import { routesOf } from '../../../src/page/view/routes.ts';
import { memberOf, poolOf, statusOf } from '../../support/page/status.ts';

function routes(pools: number, members: number) {
  const names = Array.from({ length: pools }, (_, index) => `pool-${index}`);
  const own = Array.from({ length: members }, (_, index) => memberOf(`pg-${index}`, names));
  return routesOf(statusOf({ pools: names.map((name) => poolOf(name)), members: own }));
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

describe.each([
  ['wide', 850],
  ['narrow', 600],
  ['a phone', 330],
])('%s', (_, width) => {
  test.each([
    [1, 1],
    [2, 3],
    [4, 10],
    [4, 2],
  ])('%i pools and %i members', (pools, members) => {
    const layout = layOut(routes(pools, members), width);
    const boxes = [...layout.pools.map(({ box }) => box), ...layout.members.values()];
    expect(boxes).toHaveLength(pools + members);
    for (const { x, y, ...size } of boxes) {
      expect([x >= 0, y >= 0, x + size.width <= width, y + size.height <= layout.height]).not.toContain(false);
      expect(size.width).toBeGreaterThan(100);
    }
    const pairs = boxes.flatMap((box, index) => boxes.slice(index + 1).map((other) => [box, other] as const));
    expect(pairs.filter(([a, b]) => overlap(a, b))).toEqual([]);
  });
});

test('numbers and standings move nothing', () => {
  const names = ['write', 'read'];
  const quiet = statusOf({ pools: names.map((name) => poolOf(name)), members: [memberOf('pg-1', names)] });
  const busy = statusOf({
    pools: names.map((name) => poolOf(name, { route: { kind: 'hold', cause: 'no_member' } })),
    members: [memberOf('pg-1', names)],
  });
  const [before, after] = [quiet, busy].map((status) => layOut(routesOf(status), 850));
  expect(after?.members).toEqual(before?.members);
  expect(after?.pools.map(({ box, points }) => [box, points])).toEqual(
    before?.pools.map(({ box, points }) => [box, points]),
  );
});

function endOfEntry(kind: 'closed' | 'open'): number {
  const route = kind === 'open' ? ({ kind, members: [], fallback: null } as const) : ({ kind } as const);
  const status = statusOf({ pools: [poolOf('write', { route })], members: [memberOf('pg-1', ['write'])] });
  return Number(/H(\d+)$/.exec(layOut(routesOf(status), 850).pools[0]?.entry ?? '')?.[1]);
}

test('on hold the track ends before the points', () => {
  expect(endOfEntry('closed')).toBeLessThan(endOfEntry('open') - 10);
});
