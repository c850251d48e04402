// The benchmark's command line.
import { parseArgs } from 'node:util';

export interface BenchOptions {
  readonly switchovers: number;
  readonly deaths: number;
  readonly restarts: number;
  /** The times for which Patroni stays frozen, below the leader's ttl; milliseconds each. */
  readonly freezesMs: readonly number[];
  /** The number of freezes that last until another member is promoted. */
  readonly replacements: number;
  readonly cancels: number;
  /** Rounds of the read scenes. */
  readonly silences: number;
  readonly lags: number;
  readonly fallbacks: number;
  /** Clients per second of each peer during a switchover or a freeze. */
  readonly perSecond: number;
  /** The same while a host is dead: all held clients come to the new primary at once. */
  readonly perSecondOfDeath: number;
  /** The file for the figures of every round. */
  readonly json: string | undefined;
}

export const USAGE = `npm run bench:failover -- [options]
  --switchovers N   (7)          --deaths N        (3)
  --restarts N      (5)          restarts of the primary in place
  --freezes LIST    (3,12,24)    seconds each, below the ttl of 30 s; '' for none
  --replacements N  (2)          freezes that last until another member is promoted
  --cancels N       (20)         --json FILE       every round's figures
  --silences N      (2)          --lags N          (2)
  --fallbacks N     (1)          reads: a replica vanishes (needs root), stops replaying; a fallback ends
  --rate N          (8)          clients per second of each peer
  --death-rate N    (4)          the same while a host is dead`;

export function readOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      switchovers: text('7'),
      deaths: text('3'),
      restarts: text('5'),
      freezes: text('3,12,24'),
      replacements: text('2'),
      cancels: text('20'),
      silences: text('2'),
      lags: text('2'),
      fallbacks: text('1'),
      rate: text('8'),
      'death-rate': text('4'),
      json: { type: 'string' },
    },
  });
  return {
    switchovers: numberOf('switchovers', values.switchovers, 0, 100),
    deaths: numberOf('deaths', values.deaths, 0, 100),
    restarts: numberOf('restarts', values.restarts, 0, 100),
    freezesMs: values.freezes
      .split(',')
      .filter((part) => part !== '')
      .map((part) => numberOf('freezes', part, 1, 25) * 1000),
    replacements: numberOf('replacements', values.replacements, 0, 20),
    cancels: numberOf('cancels', values.cancels, 0, 40),
    silences: numberOf('silences', values.silences, 0, 20),
    lags: numberOf('lags', values.lags, 0, 20),
    fallbacks: numberOf('fallbacks', values.fallbacks, 0, 20),
    perSecond: numberOf('rate', values.rate, 1, 50),
    perSecondOfDeath: numberOf('death-rate', values['death-rate'], 1, 10),
    json: values.json,
  };
}

function text(fallback: string) {
  return { type: 'string', default: fallback } as const;
}

function numberOf(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${option}: '${text}' is not a whole number from ${least} to ${most}\n${USAGE}`);
}
