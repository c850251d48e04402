// One seed: its history, and the laws that it broke.
import { loadLate } from './pointsman/simulated-pointsman.ts';
import { judge } from './judge/judge.ts';
import { planOf, type Plan } from './scene/plan.ts';
import { Scene } from './scene/scene.ts';
import { situationsOf } from './situations.ts';
import type { World } from './world/world.ts';

export interface Outcome {
  readonly plan: Plan;
  /** The hash is the same for the same plan. */
  readonly history: World['history'];
  /** Sentences. Empty: every law held. */
  readonly broken: readonly string[];
  readonly situations: ReadonlySet<string>;
}

export function runSeed(seed: number): Promise<Outcome> {
  return runPlan(planOf(seed));
}

export async function runPlan(plan: Plan): Promise<Outcome> {
  await loadLate();
  const scene = await new Scene(plan).run();
  const { history } = scene.world;
  return {
    plan,
    history,
    broken: judge(scene),
    situations: situationsOf(scene),
  };
}
