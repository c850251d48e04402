// The figures of all runs for the terminal, as Markdown.
import { FIRST_DIRECT_CLIENT } from '../history.ts';
import type { Counts, Judgement } from '../judge/judge.ts';
import { modeName } from '../options.ts';
import type { JudgedRun } from './judged-run.ts';

export function textReport(runs: readonly JudgedRun[]): string {
  return [summary(runs), ...runs.map(details)].join('\n\n');
}

/** More of them say nothing new. */
const MOST_STEPS = 5;

function row(...cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

function summary(runs: readonly JudgedRun[]): string {
  const head = [
    'mode',
    'acknowledged',
    'lost by the cluster',
    'lost otherwise',
    'doubled',
    'unexpected',
    'recovered of unknown',
    'refused',
    'steps back',
    'wrong sums',
    'after the bound',
    'faults played',
    'verdict',
  ];
  const lines = runs.map(({ mode, judgement, run }) => {
    const { counts, losses, doubled, unexpected, sights, fence, laws } = judgement;
    const otherwise = losses.filter(({ cause }) => cause === 'unexplained').length;
    return row(
      modeName(mode),
      counts.acknowledged,
      losses.length - otherwise,
      otherwise,
      doubled.length,
      unexpected.length,
      `${counts.recovered} of ${counts.unknown}`,
      counts.refused,
      sights.stepsBack.length,
      sights.wrongSums.length,
      fence.beyond.length,
      run.history.faults.filter(({ kind }) => kind !== 'repair').length,
      laws.every(({ faults }) => faults === 0) ? 'held' : 'BROKEN',
    );
  });
  return [row(...head), row(...head.map(() => '---')), ...lines].join('\n');
}

function details({ mode, seed, judgement }: JudgedRun): string {
  const { laws, byApplication, fence } = judgement;
  return [
    `${modeName(mode)}, seed ${seed}`,
    ...laws.map(({ name, faults, said }) => `- ${faults === 0 ? 'held  ' : 'BROKEN'} ${name}: ${said}`),
    `- latest write at an old primary after a promotion: ${latest(judgement)}`,
    ...judgement.sights.stepsBack
      .slice(0, MOST_STEPS)
      .map(
        ({ session, port, client, before, after }) =>
          `- ${session}, ${port} port: client ${client} was at ${before}, then at ${after}`,
      ),
    ...[...byApplication].map(([name, counts]) => `- ${name}: ${countsText(counts)}`),
    `- clients beside Pointsman (${FIRST_DIRECT_CLIENT} and above): ${fence.direct.length} writes at an old primary`,
  ].join('\n');
}

function latest({ fence }: Judgement): string {
  const sent = fence.late.map(({ sentAfterMs }) => sentAfterMs ?? 0);
  const executed = fence.late.map(({ executedAfterMs }) => executedAfterMs);
  if (executed.length === 0) return 'none';
  return `sent ${Math.max(...sent)} ms, executed ${Math.max(...executed)} ms after it`;
}

export function countsText({ acknowledged, refused, unknown, recovered }: Counts): string {
  return `${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown (${recovered} of them there)`;
}
