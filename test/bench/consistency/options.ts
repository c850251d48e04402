// The command line of the consistency run.
import { parseArgs } from 'node:util';
import { FAULT_KINDS, type FaultKind, OWN_KINDS } from './faults/plan.ts';

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
  /** Every connection of clients, members and Pointsman is encrypted. */
  readonly hasTls: boolean;
  /** Beside each other; clients are spread over them. */
  readonly pointsmen: number;
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
  --itself true            Pointsman is killed, frozen and replaced, too
  --tls true               clients and members take TLS alone
  --pointsmen N    (1)     beside each other; clients are spread over them
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
      itself: { type: 'string', default: 'false' },
      tls: { type: 'string', default: 'false' },
      pointsmen: { type: 'string', default: '1' },
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
    isBrief: isTrue('brief', values.brief),
    kinds: kindsWith(values.faults, isTrue('itself', values.itself) ? [...FAULT_KINDS, ...OWN_KINDS] : FAULT_KINDS),
    hasTls: isTrue('tls', values.tls),
    pointsmen: positive('pointsmen', values.pointsmen),
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

type Choice = Readonly<Record<'minutes' | 'faults' | 'brief' | 'itself' | 'tls' | 'pointsmen', string>>;

function chosenBy({ minutes, faults, brief, itself, tls, pointsmen }: Choice): string {
  return [
    brief === 'true' ? '--brief true' : `--minutes ${minutes}`,
    ...(faults === '' ? [] : [`--faults '${faults}'`]),
    ...(itself === 'true' ? ['--itself true'] : []),
    ...(tls === 'true' ? ['--tls true'] : []),
    ...(pointsmen === '1' ? [] : [`--pointsmen ${pointsmen}`]),
  ].join(' ');
}

function isTrue(option: string, text: string): boolean {
  return listed(option, text, ['true', 'false'] as const)[0] === 'true';
}

function kindsWith(text: string, known: readonly FaultKind[]): readonly FaultKind[] {
  const kinds = known.filter((kind) => kind.includes(text));
  if (kinds.length === 0) throw new Error(`--faults: no kind has '${text}' in its name: ${known.join(', ')}`);
  return kinds;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${option}: '${text}' is not a number above 0\n${USAGE}`);
}
