// Makes the plan of a broken law smaller while a law of the same kind still breaks: fewer faults, fewer clients,
// simpler shapes, shorter times. A person can read the rest.
import type { Outcome } from './run-seed.ts';
import { runPlan } from './run-seed.ts';
import type { Plan } from './scene/plan.ts';

/** Attempts, in all. Each runs a history. */
const MOST_TRIES = 80;
const NOISE = /probe_finished|discovery_finished|client_accepted|member_reported|session_opened|dial_finished/;
const LAST_LINES = 40;

export async function shrink(first: Outcome): Promise<Outcome> {
  const kind = kindOf(first);
  let best = first;
  let tries = 0;
  let isSmaller = true;
  while (isSmaller) {
    isSmaller = false;
    for (const plan of smallerPlans(best.plan)) {
      if (tries >= MOST_TRIES) return best;
      tries += 1;
      const outcome = await runPlan(plan);
      if (kindOf(outcome) !== kind) continue;
      best = outcome;
      isSmaller = true;
      break;
    }
  }
  return best;
}

/** The plan in words, the broken laws, and the end of the history without what is usual. */
export function storyOf({ plan, broken, history }: Outcome): string {
  const faults = plan.faults.map(({ kind, atMs, forMs, member }) => {
    const where = member === undefined ? '' : ` (member ${member + 1})`;
    return `  ${seconds(atMs)}: ${kind}${where}, for ${seconds(forMs)}`;
  });
  const unusual = history
    .lines()
    .filter((line) => !NOISE.test(line))
    .slice(-LAST_LINES);
  return [
    `seed ${plan.seed}, ${JSON.stringify(plan.shape)}`,
    ...faults,
    ...broken.slice(0, 5).map((sentence) => `  broken: ${sentence}`),
    ...unusual,
  ].join('\n');
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** The law that broke first; its numbers change with the plan. */
function kindOf({ broken }: Outcome): string | undefined {
  return broken[0]?.replaceAll(/[\d.]+/g, '#').slice(0, 40);
}

function* smallerPlans(plan: Plan): Generator<Plan> {
  const { shape, faults } = plan;
  for (const fault of faults) yield { ...plan, faults: faults.filter((other) => other !== fault) };
  const simpler: readonly Partial<Plan['shape']>[] = [
    { readers: 0 },
    { writers: 1 },
    { writers: shape.writers - 1 },
    { workers: 1 },
    { pointsmen: 1 },
    { moves: 'off' },
    { isSynchronous: false },
    { members: 2 },
  ];
  for (const change of simpler) {
    const smaller = { ...shape, ...change };
    if (smaller.writers > 0 && JSON.stringify(smaller) !== JSON.stringify(shape)) yield { ...plan, shape: smaller };
  }
  if (plan.faultsMs > 8_000) yield { ...plan, faultsMs: plan.faultsMs * 0.7 };
  if (plan.quietMs > 4_000) yield { ...plan, quietMs: plan.quietMs * 0.5 };
}
