// The command line of `npm run bench:reads`.
import { READ_SCOPES, type ReadScope } from '../../../../src/model/causal-reads.ts';
import { Command, InvalidArgumentError, Option } from 'commander';

export interface PriceOptions {
  readonly rounds: number;
  /** The length of one window. */
  readonly seconds: number;
  readonly readers: readonly number[];
  /** In a second; 0: the cluster is quiet. */
  readonly writes: readonly number[];
  /** The pool with causal reads has it. */
  readonly scope: ReadScope;
}

/** Ends the process with a message when an argument is wrong. */
export function readOptions(argv: readonly string[]): PriceOptions {
  const program = new Command('npm run bench:reads --')
    .description('The price of reads that see every acknowledged write, on a real Patroni cluster.')
    .option('--rounds <n>', 'rounds, each with every way in turn', (text) => whole(text, 1), 5)
    .option('--seconds <s>', 'measured for each way, round and case', above0, 1.5)
    .addOption(list('--readers <list>', 'numbers of readers', 1, [1, 8, 64]))
    .addOption(list('--writes <list>', 'writes a second; 0: none', 0, [0, 75]))
    .addOption(new Option('--scope <scope>', 'of the causal reads').choices(READ_SCOPES).default('cluster'))
    .addHelpText('after', '\nWhat the columns mean: test/bench/README.md.')
    .showHelpAfterError();
  program.parse([...argv], { from: 'user' });
  return program.opts<PriceOptions>();
}

function list(flags: string, description: string, least: number, usual: readonly number[]): Option {
  const parse = (text: string): readonly number[] => text.split(',').map((part) => whole(part, least));
  return new Option(flags, description).argParser(parse).default(usual, usual.join(','));
}

function whole(text: string, least: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least) return value;
  throw new InvalidArgumentError(`'${text}' is not a whole number from ${least} on.`);
}

function above0(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 3600) return value;
  throw new InvalidArgumentError(`'${text}' is not a number of seconds up to 3600.`);
}
