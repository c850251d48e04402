// The benchmark's command line.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { PART_NAMES, type PartName } from './parts/names.ts';

/** A way to run Pointsman: its checkout and its settings. */
const variant = z.strictObject({
  /** The checkout of this project; this one by default. */
  checkout: z.string().optional(),
  /** Merged into the benchmark's configuration, section by section. */
  config: z.record(z.string(), z.unknown()).default({}),
  env: z.record(z.string(), z.string()).default({}),
  nodeFlags: z.array(z.string()).default([]),
  /** The path of another binary of Node. */
  node: z.string().optional(),
});

export type Variant = z.infer<typeof variant>;

export const FIXED_PEERS = ['direct', 'haproxy', 'pgbouncer', 'floor', 'pointsman'] as const;
export type FixedPeer = (typeof FIXED_PEERS)[number];

const PGBENCH_MODES = ['simple', 'extended', 'prepared'] as const;
type PgbenchMode = (typeof PGBENCH_MODES)[number];

export interface BenchOptions {
  readonly only: readonly PartName[];
  readonly peers: readonly FixedPeer[];
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: readonly number[] | undefined;
  readonly sessions: readonly number[] | undefined;
  readonly megabytes: number;
  /** `auto`: each part has its own pinning. */
  readonly pin: 'auto' | 'apart' | 'together' | 'none';
  readonly modes: readonly PgbenchMode[];
  /** The requested variants of Pointsman, by their names in the table. */
  readonly variants: ReadonlyMap<string, Variant>;
  readonly json: string | undefined;
  readonly chart: string | undefined;
}

const CHECKOUT = resolve(import.meta.dirname, '../../..');

const EXAMPLES = `
Examples:
  npm run bench -- --only ping-pong --connections 1,64 --peers haproxy,pointsman
  npm run bench -- --only ping-pong --also before=../other-checkout
  npm run bench -- --only ping-pong --also 'gc={"nodeFlags":["--max-semi-space-size=32"]}'
A variant is a path, or JSON with any of checkout, config, env, nodeFlags, node.
What the parts measure and how to read them: test/bench/README.md.`;

/** Ends the process with a message when an argument is wrong. */
export function readOptions(argv: readonly string[]): BenchOptions {
  const program = new Command('npm run bench --')
    .description('Pointsman beside HAProxy, PgBouncer and no proxy at all, on this machine, in turn.')
    .addOption(new Option('--only <parts>', 'these parts').argParser(oneOf(PART_NAMES)).default([...PART_NAMES], 'all'))
    .addOption(
      new Option('--peers <names>', 'among these').argParser(oneOf(FIXED_PEERS)).default([...FIXED_PEERS], 'all'),
    )
    .option('--rounds <n>', 'rounds, each with every peer in turn', whole(1, 1000), 5)
    .option('--seconds <s>', 'measured per peer, round and case', positive, 1.5)
    .option('--connections <list>', 'instead of each part’s own', wholes)
    .option('--sessions <list>', 'idle sessions, instead of 1000,5000,10000', wholes)
    .addOption(
      new Option('--modes <modes>', 'of pgbench').argParser(oneOf(PGBENCH_MODES)).default([...PGBENCH_MODES], 'all'),
    )
    .option('--megabytes <n>', 'per COPY', whole(1, 100_000), 1200)
    .addOption(
      new Option('--pin <how>', 'apart: proxies on one core, all else on the others; together: all on one')
        .choices(['auto', 'apart', 'together', 'none'])
        .default('auto'),
    )
    .option('--candidate <path>', 'the checkout that is measured as pointsman', CHECKOUT)
    .option('--pointsman <variant>', 'how pointsman is run', readVariant)
    .option('--also <name=variant>', 'Pointsman run in another way beside it; may be repeated', another, new Map())
    .option('--json <file>', 'every sample')
    .option('--chart <file>', 'an SVG of the ratios')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError();
  program.parse([...argv], { from: 'user' });
  const { candidate, pointsman, also, ...given } = program.opts<
    BenchOptions & { candidate: string; pointsman?: Variant; also: ReadonlyMap<string, Variant> }
  >();
  const own: Variant = { config: {}, env: {}, nodeFlags: [], ...pointsman, checkout: pointsman?.checkout ?? candidate };
  const variants = new Map([...(given.peers.includes('pointsman') ? [['pointsman', own] as const] : []), ...also]);
  return {
    ...given,
    connections: given.connections,
    sessions: given.sessions,
    json: given.json,
    chart: given.chart,
    variants,
  };
}

function oneOf<T extends string>(known: readonly T[]): (text: string) => readonly T[] {
  return (text) =>
    text.split(',').map((name) => {
      const found = known.find((candidate) => candidate === name);
      if (found === undefined) throw new InvalidArgumentError(`'${name}' is none of ${known.join(', ')}.`);
      return found;
    });
}

function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`'${text}' is not a whole number from ${least} to ${most}.`);
  };
}

function wholes(text: string): readonly number[] {
  return text.split(',').map(whole(1, 100_000));
}

function positive(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 3600) return value;
  throw new InvalidArgumentError(`'${text}' is not a number of seconds up to 3600.`);
}

/** A path, JSON, or @FILE with JSON. */
function readVariant(text: string): Variant {
  if (!/^[{@]/.test(text)) return { checkout: resolve(text), config: {}, env: {}, nodeFlags: [] };
  try {
    return variant.parse(JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text));
  } catch (error) {
    throw new InvalidArgumentError(error instanceof z.ZodError ? z.prettifyError(error) : String(error));
  }
}

function another(text: string, before: ReadonlyMap<string, Variant>): ReadonlyMap<string, Variant> {
  const [, name, rest] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || rest === undefined) throw new InvalidArgumentError('it is NAME=PATH or NAME={…}.');
  return new Map([...before, [name, readVariant(rest)]]);
}
