// The parameter `lag`: bytes, or a number with one of PostgreSQL's units (case-sensitive, powers of 1024).

const UNITS: Readonly<Record<string, number>> = { B: 1, kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** Undefined when the text is neither. A fraction needs a unit. */
export function parseLagBound(text: string): number | undefined {
  const match = /^\s*(\d+)(\.\d+)?\s*([A-Za-z]*)\s*$/.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', unit = ''] = match;
  if (unit === '') return fraction === '' ? Number(whole) : undefined;
  const factor = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return factor === undefined ? undefined : Math.round(Number(whole + fraction) * factor);
}
