// The table of test/bench/README.md.
import { median } from '../../../support/values/median.ts';
import type { Measured, Questions } from './round.ts';

const HEADS = [
  'reads/s',
  'to no gate',
  'read p50, ms',
  'p99',
  'write p50, ms',
  'p99',
  'stale',
  'questions/s: primary · replicas',
  'µs each',
  'primary busy',
  'Pointsman busy',
  'errors',
];

export function head(readers: number, writes: number): string {
  const title = `${readers} ${readers === 1 ? 'reader' : 'readers'}, ${writes === 0 ? 'no' : writes} writes/s`;
  return `| ${[title, ...HEADS].join(' | ')} |\n|${'---|'.repeat(HEADS.length + 1)}`;
}

const perSecond = ({ reads }: Measured): number => reads.perSecond;

const asked = (all: readonly Questions[]): string =>
  median(all.map(({ count, seconds }) => count / seconds)).toFixed(0);

/** `reference`: the first way in the same rounds. */
export function row(name: string, rounds: readonly Measured[], reference: readonly Measured[]): string {
  const middle = (figure: (round: Measured) => number): number => median(rounds.map(figure));
  const ratios = rounds.flatMap((round, at) => {
    const base = reference[at];
    return base === undefined ? [] : [perSecond(round) / perSecond(base)];
  });
  const hasWrites = rounds.every(({ writes }) => writes !== undefined);
  const writeAt = (share: number): string =>
    hasWrites ? middle(({ writes }) => at(writes?.timesMs ?? [], share)).toFixed(1) : '-';
  const questions = rounds.flatMap((round) => round.questions ?? []);
  const checked = sum(rounds, ({ writes }) => writes?.checked ?? 0);
  const errors = sum(rounds, ({ reads, writes }) => reads.errors.length + (writes?.errors.length ?? 0));
  const cells = [
    name,
    middle(perSecond).toFixed(0),
    `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
    middle(({ reads }) => at(reads.timesMs, 0.5)).toFixed(2),
    middle(({ reads }) => at(reads.timesMs, 0.99)).toFixed(1),
    writeAt(0.5),
    writeAt(0.99),
    checked === 0 ? '-' : `${sum(rounds, ({ writes }) => writes?.stale ?? 0)} of ${checked}`,
    ...[asked, each].map((figure) =>
      questions.length === 0
        ? '-'
        : `${figure(questions.map(({ primary }) => primary))} · ${figure(questions.map(({ replicas }) => replicas))}`,
    ),
    `${(100 * middle(({ busy }) => busy.primary)).toFixed(0)} %`,
    `${(100 * middle(({ busy }) => busy.pointsman)).toFixed(0)} %`,
    errors,
  ];
  return `| ${cells.join(' | ')} |`;
}

function sum(rounds: readonly Measured[], figure: (round: Measured) => number): number {
  return rounds.reduce((all, round) => all + figure(round), 0);
}

/** The times are in order. */
function at(timesMs: readonly number[], share: number): number {
  return timesMs[Math.min(timesMs.length - 1, Math.floor(timesMs.length * share))] ?? Number.NaN;
}

/** Processor time of a question. Few of them are mostly other work of their session. */
function each(questions: readonly Questions[]): string {
  const count = questions.reduce((all, one) => all + one.count, 0);
  const us = questions.reduce((all, one) => all + one.processorUs, 0);
  return count === 0 ? '-' : (us / count).toFixed(0);
}

export const LEGEND = `Medians of the rounds; "to no gate" is the median (least–most) of the rounds' own ratios.`;
