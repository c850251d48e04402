// The options of a benchmark that are numbers above 0, with their defaults.
import { parseArgs } from 'node:util';

/** Throws when an option is unknown or not such a number. */
export function readNumbers<const T extends Readonly<Record<string, number>>>(defaults: T): Record<keyof T, number> {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options });
  const numbers: Record<keyof T, number> = { ...defaults };
  for (const name in defaults) {
    const text = values[name];
    if (typeof text === 'string') numbers[name] = above0(name, text);
  }
  return numbers;
}

function above0(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${name}: '${text}' is not a number above 0`);
}
