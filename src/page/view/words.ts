// Numbers as short words, with their nouns and the units that the command line uses. Pure.

const SIZES = [
  ['TB', 1024 ** 4],
  ['GB', 1024 ** 3],
  ['MB', 1024 ** 2],
  ['kB', 1024],
] as const;

/** `0 B`, `16 MB`, `1.5 GB` */
export function sizeText(bytes: number): string {
  const [unit, factor] = SIZES.find(([, size]) => bytes >= size) ?? ['B', 1];
  return `${Number((bytes / factor).toFixed(1))} ${unit}`;
}

/** Every time on the page is in UTC, as in the log and in incidents: 14:03:59. `ms`: since 1970. */
export function clockText(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** 2026-11-22 14:03:59, also in UTC. */
export function dateText(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** `0.2 s`, `41 s`, `3 min 5 s`, `4 h 12 min`, `3 d 4 h`: two units at most, so that it is readable while it ticks. */
export function ageText(seconds: number): string {
  const whole = Math.floor(seconds);
  if (whole < 10) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return pair([Math.floor(whole / 60), 'min'], [whole % 60, 's']);
  const minutes = Math.floor(whole / 60);
  if (minutes < 24 * 60) return pair([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min']);
  const hours = Math.floor(minutes / 60);
  return pair([Math.floor(hours / 24), 'd'], [hours % 24, 'h']);
}

function pair([first, unit]: [number, string], [second, smaller]: [number, string]): string {
  return second === 0 ? `${first} ${unit}` : `${first} ${unit} ${second} ${smaller}`;
}

/** `680 B`, and of a replica whose data is a second old or more `680 B, 5.1 s`. */
export function lagText(bytes: number, staleness: number | null): string {
  return staleness === null || staleness < 1 ? sizeText(bytes) : `${sizeText(bytes)}, ${ageText(staleness)}`;
}

/** Without its middle: names of members differ at the end. */
export function shortened(name: string, most: number): string {
  const end = Math.ceil(most * 0.6);
  return name.length <= most ? name : `${name.slice(0, most - end - 1)}…${name.slice(-end)}`;
}

/** `1 session`, `2 sessions`, `5 000 sessions` */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** Groups of three digits with a narrow space, in every locale. */
export function numberText(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, '\u202f');
}

/** How long something took, rounded as in the log: 340 ms, 4.1 s, 10 s, 2 min. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Number((ms / 1000).toFixed(1))} s`;
  return `${Number((ms / 60_000).toFixed(1))} min`;
}
