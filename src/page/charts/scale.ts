// The axes of a chart: the time shown, and a round number on top whose half is whole, too. Pure.

/** `bytes`: rounded in kB, MB … of 1024. */
export type Unit = 'count' | 'bytes';

const ROUND = [2, 4, 10];
const LEAST = 2;

export function topOf(most: number | null, unit: Unit): number {
  const value = Math.max(LEAST, most ?? 0);
  const size = unit === 'bytes' ? 1024 ** Math.floor(Math.log(value) / Math.log(1024)) : 1;
  const inUnits = value / size;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, inUnits)));
  const round = ROUND.find((step) => step * power >= inUnits) ?? 10;
  return round * power * size;
}

/** Seconds, with the distance of its ticks. A Pointsman that has just started shows a part of the hour. */
const WINDOWS = [
  { seconds: 300, tick: 60 },
  { seconds: 900, tick: 300 },
] as const;
const HOUR = { seconds: 3600, tick: 900 } as const;

/** `covered`: from the first sample to now. Seconds. */
export function windowOf(covered: number): number {
  return (WINDOWS.find(({ seconds }) => covered <= seconds) ?? HOUR).seconds;
}

/** Seconds since 1970. */
export function ticksBetween(from: number, to: number): number[] {
  const { tick } = WINDOWS.find(({ seconds }) => to - from <= seconds) ?? HOUR;
  const first = Math.ceil(from / tick) * tick;
  return Array.from({ length: Math.floor((to - first) / tick) + 1 }, (_, index) => first + index * tick);
}
