// One seed: its history, and the laws that it broke.
import { loadLate } from './pointsman/simulated-pointsman.ts';
import { judge } from './judge/judge.ts';
import { planOf, type Plan } from './scene/plan.ts';
import { Scene } from './scene/scene.ts';
import { situationsOf } from './situations.ts';

export interface Outcome {
  readonly plan: Plan;
  /** The same for the same plan. */
  readonly hash: string;
  readonly lines: readonly string[];
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
    hash: history.hash(),
    lines: history.lines(),
    broken: judge(scene),
    situations: situationsOf(scene),
  };
}
