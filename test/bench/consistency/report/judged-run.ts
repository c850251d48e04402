// One run with its judgement, for both reports.
import type { Judgement } from '../judge/judge.ts';
import type { Mode } from '../options.ts';
import type { FinishedRun } from '../run.ts';

export interface JudgedRun {
  readonly mode: Mode;
  readonly seed: number;
  readonly run: FinishedRun;
  readonly judgement: Judgement;
}
