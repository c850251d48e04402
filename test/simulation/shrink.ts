// Makes the plan of a broken law smaller while a law of the same kind still breaks: fewer faults, fewer clients,
// simpler shapes, shorter times. A person can read the rest: story.ts.
import type { Outcome } from './run-seed.ts';
import { runPlan } from './run-seed.ts';
import type { Plan } from './scene/plan.ts';

/** Attempts, in all. Each runs a history. */
const MOST_TRIES = 150;
/** A busy machine does not come so far. Milliseconds. */
const MOST_MS = 60_000;
/** A smaller plan has other accidents: it is tried in so many worlds. */
const WORLDS = 3;

export async function shrink(first: Outcome): Promise<Outcome> {
  const kind = kindOf(first);
  let best = first;
  const begin = Date.now();
  let tries = 0;
  const isBroken = async (plan: Plan): Promise<boolean> => {
    for (let world = 0; world < WORLDS && tries < MOST_TRIES && Date.now() - begin < MOST_MS; world += 1) {
      tries += 1;
      const outcome = await runPlan({ ...plan, seed: plan.seed + world * 1_000_000 });
      if (kindOf(outcome) !== kind) continue;
      best = outcome;
      return true;
    }
    return false;
  };
  for (;;) {
    let isSmaller = false;
    for (const plan of smallerPlans(best.plan)) isSmaller ||= await isBroken(plan);
    if (!isSmaller) return best;
  }
}

/** The law that broke first; its numbers change with the plan. */
function kindOf({ broken }: Outcome): string | undefined {
  return broken[0]?.replaceAll(/[\d.]+/g, '#').slice(0, 40);
}

function* smallerPlans(plan: Plan): Generator<Plan> {
  const { shape, faults } = plan;
  if (faults.length > 2) for (const fault of faults) yield { ...plan, faults: [fault] };
  for (const fault of faults) yield { ...plan, faults: faults.filter((other) => other !== fault) };
  const simpler: readonly Partial<Plan['shape']>[] = [
    { readers: 0 },
    { writers: 1 },
    { writers: shape.writers - 1 },
    { workers: 1 },
    { pointsmen: 1 },
    { moves: 'off', onStays: 'drain' },
    { onStays: 'drain' },
    { isSynchronous: false },
    { members: 2 },
    { vouching: false, filesDiffer: false, readsByTag: false, isBusy: false },
  ];
  for (const change of simpler) {
    const smaller = { ...shape, ...change };
    if (smaller.writers > 0 && JSON.stringify(smaller) !== JSON.stringify(shape)) yield { ...plan, shape: smaller };
  }
  if (plan.faultsMs > 8_000) yield { ...plan, faultsMs: plan.faultsMs * 0.7 };
  if (plan.quietMs > 4_000) yield { ...plan, quietMs: plan.quietMs * 0.5 };
}
