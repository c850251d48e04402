// The command line of the consistency run.
import { parseArgs } from 'node:util';
import { FAULT_KINDS, type FaultKind } from './faults/plan.ts';

export const MOVES = ['off', 'planned', 'always'] as const;
export const REPLICATIONS = ['asynchronous', 'synchronous'] as const;

export interface Mode {
  readonly moves: (typeof MOVES)[number];
  readonly replication: (typeof REPLICATIONS)[number];
}

export interface ConsistencyOptions {
  readonly modes: readonly Mode[];
  readonly minutes: number;
  readonly seed: number;
  readonly isBrief: boolean;
  readonly kinds: readonly FaultKind[];
  /** The options of these that choose the faults, to repeat them. */
  readonly chosen: string;
  /** The file for the report. */
  readonly page: string;
  /** A folder for the histories and logs; undefined: they are not kept. */
  readonly keep: string | undefined;
}

export const USAGE = `npm run bench:consistency -- [options]
  --minutes N      (10)    of faults, in each mode
  --moves LIST     (all)   off, planned, always; with commas between them
  --replication L  (all)   asynchronous, synchronous
  --seed N                 of an earlier run: the same faults in the same order
  --brief true             one short fault of each kind that is over soon, about 40 s
  --faults TEXT            the kinds of faults with it in their name alone: 'kill', 'cut off'
  --page FILE      (test/artifacts/consistency.html)   the report
  --keep FOLDER            every history and log, to look at a surprise`;

/** `dice`: for the seed when none is given, from 0 to 1. */
export function readOptions(argv: readonly string[], dice: number): ConsistencyOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      minutes: { type: 'string', default: '10' },
      moves: { type: 'string', default: MOVES.join(',') },
      replication: { type: 'string', default: REPLICATIONS.join(',') },
      seed: { type: 'string', default: String(1 + Math.floor(dice * 999_999)) },
      brief: { type: 'string', default: 'false' },
      faults: { type: 'string', default: '' },
      page: { type: 'string', default: 'test/artifacts/consistency.html' },
      keep: { type: 'string' },
    },
  });
  const moves = listed('moves', values.moves, MOVES);
  const replications = listed('replication', values.replication, REPLICATIONS);
  return {
    modes: replications.flatMap((replication) => moves.map((one) => ({ moves: one, replication }))),
    minutes: positive('minutes', values.minutes),
    seed: positive('seed', values.seed),
    isBrief: listed('brief', values.brief, ['true', 'false'] as const)[0] === 'true',
    kinds: kindsWith(values.faults),
    chosen: chosenBy(values),
    page: values.page,
    keep: values.keep,
  };
}

export function modeName({ moves, replication }: Mode): string {
  return `${replication} replication, moves ${moves}`;
}

function listed<T extends string>(option: string, text: string, known: readonly T[]): readonly T[] {
  return text.split(',').map((part) => {
    const one = known.find((candidate) => candidate === part);
    if (one === undefined) throw new Error(`--${option}: '${part}' is not ${known.join(' or ')}\n${USAGE}`);
    return one;
  });
}

function chosenBy(values: { readonly minutes: string; readonly faults: string; readonly brief: string }): string {
  if (values.brief === 'true') return '--brief true';
  return `--minutes ${values.minutes}${values.faults === '' ? '' : ` --faults '${values.faults}'`}`;
}

function kindsWith(text: string): readonly FaultKind[] {
  const kinds = FAULT_KINDS.filter((kind) => kind.includes(text));
  if (kinds.length === 0) throw new Error(`--faults: no kind has '${text}' in its name: ${FAULT_KINDS.join(', ')}`);
  return kinds;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${option}: '${text}' is not a number above 0\n${USAGE}`);
}
