// The pause between two documents, with the time of the test.
import { expect, onTestFinished, test, vi } from 'vitest';
import { oneAtATime } from '../../../src/admin/one-at-a-time.ts';

interface Built {
  /** Each document that was begun. */
  readonly builds: readonly PromiseWithResolvers<number>[];
  readonly ask: () => Promise<number>;
}

function building(): Built {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const builds: PromiseWithResolvers<number>[] = [];
  const ask = oneAtATime(() => {
    const build = Promise.withResolvers<number>();
    builds.push(build);
    return build.promise;
  });
  return { builds, ask };
}

test.each([
  [10, 30],
  [5_000, 250],
])('after a document that took %i ms the next one begins after %i ms, for all that wait', async (tookMs, pauseMs) => {
  const { builds, ask } = building();
  const first = ask();
  await vi.advanceTimersByTimeAsync(tookMs);
  builds[0]?.resolve(1);
  expect(await first).toBe(1);
  const waiting = [ask(), ask()];
  await vi.advanceTimersByTimeAsync(pauseMs - 1);
  expect(builds).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(builds).toHaveLength(2);
  builds[1]?.resolve(2);
  expect(await Promise.all(waiting)).toEqual([2, 2]);
});

test('a document that could not be made fails for its callers alone', async () => {
  const { builds, ask } = building();
  const first = ask();
  const second = ask();
  builds[0]?.reject(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  await vi.advanceTimersByTimeAsync(1);
  builds[1]?.resolve(2);
  expect(await second).toBe(2);
});
