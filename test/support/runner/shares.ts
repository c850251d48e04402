// How much of a test run one file may take. A share holds on a slow machine, too, because all files are slow there.

export interface FileTime {
  /** From the top of the repository. */
  readonly file: string;
  readonly project: string;
  /** With its hooks. */
  readonly ms: number;
}

/** Parts of the time that all files of the run take. The slow tests are few files. */
const SHARES = { slow: 0.2, others: 0.05 };
/** A file below it is never too long: that a few files run alone is no fault of theirs. */
const ALWAYS_ALLOWED_MS = 90_000;
const SLOW = /^(?:slow|patroni)/;
const SHOWN = 10;

/** The files that take too much, each in a line for people. */
export function overShare(times: readonly FileTime[]): readonly string[] {
  const total = totalOf(times);
  return times.flatMap((time) => {
    const share = SLOW.test(time.project) ? SHARES.slow : SHARES.others;
    const limitMs = Math.max(ALWAYS_ALLOWED_MS, share * total);
    return time.ms > limitMs ? [`${line(time, total)}: more than its share, ${seconds(limitMs)}`] : [];
  });
}

/** The longest files, each in a line for people. */
export function longest(times: readonly FileTime[]): readonly string[] {
  const total = totalOf(times);
  return times
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SHOWN)
    .map((time) => line(time, total));
}

/** The time of all files, in milliseconds. */
export function totalOf(times: readonly FileTime[]): number {
  return times.reduce((sum, { ms }) => sum + ms, 0);
}

function line({ file, project, ms }: FileTime, total: number): string {
  return `${file} (${project}) ${seconds(ms)}, ${((100 * ms) / total).toFixed(1)} %`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
