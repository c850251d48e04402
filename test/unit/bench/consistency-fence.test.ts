// The judge of writes at an old primary: by the bound, by the faults that hide the new one, by the clock of servers.
import { describe, expect, test } from 'vitest';
import type { History, Promotion, Sight, Write } from '../../bench/consistency/history.ts';
import {
  BOUNDS,
  broken,
  executedAt,
  historyOf,
  judged,
  NEXT,
  OLD,
  place,
  SUM,
  three,
  without,
  written,
} from './history-samples.ts';

/** From a little before the promotion to a minute after it. */
const hidden = (server: string, promotedMs: number) => [
  {
    kind: 'cut',
    on: 'pg-2',
    fromMs: promotedMs - 10,
    toMs: promotedMs + 60_000,
    note: undefined,
    hidden: [server],
    blind: undefined,
  },
];

const frozenPointsman = (blind: { readonly fromMs: number; readonly toMs: number }) => [
  { kind: 'freeze', on: 'Pointsman', ...blind, note: undefined, hidden: [], blind },
];

const PROMOTED_MS = 100_000;

const look = (port: Sight['port'], server: string, afterMs: number): Sight => ({
  session: `${port} ${server} ${afterMs}`,
  port,
  atMs: PROMOTED_MS + 60_000,
  seen: new Map(),
  sum: SUM,
  primary: { server, timeline: server === OLD ? 1 : 2, atMs: PROMOTED_MS + afterMs },
});

describe('the fence', () => {
  const FENCE = 'Nothing is written or read at an old primary after the bound';
  const promotion: Promotion = { server: NEXT, timeline: 2, begunAtMs: 99_900, atMs: PROMOTED_MS };
  const forks = { timeline: 2, forks: [{ timeline: 1, lsn: '0/1002' }] };

  function sent(
    afterMs: number,
    more: Partial<Write> = {},
    executedAfterMs = afterMs + 2,
    history: Partial<History> = {},
  ) {
    const late = written(1, 2, { sentAtMs: promotion.atMs + afterMs, outcome: 'unknown', ...more });
    const writes = [written(1, 1), late, written(2, 1)];
    const executed = [
      ...historyOf(writes).executed.filter(({ n, client }) => client !== 1 || n !== 2),
      { ...executedAt(late), atMs: promotion.atMs + executedAfterMs },
    ];
    return judged(
      historyOf(
        writes,
        { promotions: [promotion], executed, ...history },
        { ...forks, stored: without(writes, 1).filter(({ client, n }) => client !== 1 || n !== 2) },
      ),
    );
  }

  test('before a promotion there is no late write', () => {
    const judgement = sent(-200);
    expect([judgement.fence.late.length, broken(judgement)]).toEqual([0, []]);
  });

  test('a read through the write port is judged by its server, one through the read port by nobody', () => {
    const sights = [look('write', OLD, 1800), look('write', NEXT, 9000), look('read', OLD, 9000)];
    const history = historyOf(three, { promotions: [promotion] });
    expect(broken(judged({ ...history, sights }))).toEqual([]);
    expect(broken(judged({ ...history, sights: [...sights, look('write', OLD, 2000)] }))).toEqual([FENCE]);
  });

  test('while it is under way a write is late, and no fault', () => {
    const judgement = sent(-50);
    expect([judgement.fence.late.length, broken(judgement)]).toEqual([1, []]);
  });

  test('within the bound it is late, beyond the bound it is a fault', () => {
    expect([sent(BOUNDS.seenMs - 100).fence.late.length, broken(sent(BOUNDS.seenMs - 100))]).toEqual([1, []]);
    expect(broken(sent(BOUNDS.seenMs + 100))).toEqual([FENCE]);
  });

  test('a write that a frozen server executes late was sent in time, and nobody may be told of success', () => {
    const frozen = { faults: hidden(OLD, promotion.atMs - 6000) };
    expect(broken(sent(-5000, {}, 20_000, frozen))).toEqual([]);
    expect(broken(sent(-5000, { outcome: 'acknowledged' }, 20_000, frozen))).toContain(FENCE);
  });

  test('a write that no fault kept from the server was kept by Pointsman', () => {
    expect(broken(sent(-5000, {}, 20_000))).toEqual([FENCE]);
    expect(broken(sent(-5000, {}, 20_000, { faults: hidden(NEXT, promotion.atMs - 6000) }))).toEqual([FENCE]);
    // A busy server is slow, too.
    expect(broken(sent(BOUNDS.seenMs - 100, {}, BOUNDS.seenMs + 700))).toEqual([]);
  });

  test('a later promotion to the same number by another server counts, with the bound of two primaries', () => {
    const own: Promotion = { server: OLD, timeline: 2, begunAtMs: 40_000, atMs: 40_100 };
    const onTwo = { place: place({ timeline: 2 }) };
    const twins = { promotions: [own, promotion] };
    expect(sent(5000, onTwo, 5002, twins).fence.late).toHaveLength(1);
    expect(broken(sent(5000, onTwo, 5002, twins))).not.toContain(FENCE);
    expect(broken(sent(16_000, onTwo, 16_002, twins))).toContain(FENCE);
    // The server of the later one is no old primary.
    expect(sent(5000, { place: place({ server: NEXT, timeline: 2 }) }, 5002, twins).fence.late).toEqual([]);
  });

  test('the bound is longer while a fault hides the new primary', () => {
    expect(broken(sent(5000, {}, 5002, { faults: hidden(NEXT, promotion.atMs) }))).toEqual([]);
    expect(broken(sent(16_000, {}, 16_002, { faults: hidden(NEXT, promotion.atMs) }))).toEqual([FENCE]);
    expect(broken(sent(5000, {}, 5002, { faults: hidden(OLD, promotion.atMs) }))).toEqual([FENCE]);
  });

  test('after it stood still, Pointsman has the same bound once more', () => {
    const blind = { fromMs: promotion.atMs - 1000, toMs: promotion.atMs + 20_000 };
    expect(broken(sent(20_500, {}, 20_502, { faults: frozenPointsman(blind) }))).toEqual([]);
    expect(broken(sent(22_000, {}, 22_002, { faults: frozenPointsman(blind) }))).toEqual([FENCE]);
    expect(broken(sent(20_500, {}, 20_502, { faults: frozenPointsman({ ...blind, toMs: blind.fromMs }) }))).toEqual([
      FENCE,
    ]);
  });

  test('a server whose timeline was given up is an old primary, too', () => {
    const back = [0, 1000, 2000].map((more) => ({ server: NEXT, atMs: promotion.atMs + more }));
    const own: Promotion = { server: OLD, timeline: 3, begunAtMs: 40_000, atMs: 40_100 };
    const takenBack = { promotions: [own], claims: back };
    const onThree = { place: place({ timeline: 3 }) };
    expect(broken(sent(BOUNDS.seenMs - 100, onThree, BOUNDS.seenMs - 90, takenBack))).toEqual([]);
    expect(broken(sent(5000, onThree, 5002, takenBack))).toEqual([FENCE]);
    // Or another one was promoted that does not know its timeline.
    expect(broken(sent(5000, onThree, 5002, { promotions: [own, promotion] }))).toEqual([FENCE]);
    const faults = hidden(OLD, promotion.atMs);
    expect(broken(sent(5000, onThree, 5002, { ...takenBack, faults }))).toEqual([]);
    expect(broken(sent(16_000, onThree, 16_002, { ...takenBack, faults }))).toEqual([FENCE]);
  });

  test('a client beside Pointsman is counted, and judged by nobody', () => {
    const executed = [
      ...three.map(executedAt),
      { server: OLD, atMs: promotion.atMs + 50_000, client: 1001, n: 7, timeline: 1 },
    ];
    const judgement = judged(
      historyOf(three, { promotions: [promotion], executed }, { ...forks, forks: [{ timeline: 1, lsn: '0/F000' }] }),
    );
    expect([judgement.fence.direct.length, broken(judgement)]).toEqual([1, []]);
  });
});
