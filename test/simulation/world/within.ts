// For tests: lets simulated time pass until a promise is settled.
import type { World } from './world.ts';

export async function within<Result>(world: World, promise: Promise<Result>, ms = 20_000): Promise<Result> {
  const results: Result[] = [];
  const settled = promise.then((result) => results.push(result));
  for (let passed = 0; results.length === 0 && passed < ms; passed += 1) await world.run(1);
  if (results.length === 0) throw new Error(`nothing within ${ms} ms`);
  await settled;
  return promise;
}
