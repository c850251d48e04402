// Units of the status document.

/** `ms`: since 1970. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** To the millisecond, never negative: workers have their own clocks, whose instants may be a little ahead. */
export function seconds(ms: number): number {
  return Math.round(Math.max(0, ms)) / 1000;
}
