// Ids of incidents: the day (UTC) and a number, 2026-11-22-1.
import { mostOf } from '../model/sums.ts';

export const ID = /^\d{4}-\d{2}-\d{2}-\d{1,6}$/;

/** The older one first. */
export function byId(a: string, b: string): number {
  const [dayA, dayB] = [a.slice(0, 10), b.slice(0, 10)];
  if (dayA !== dayB) return dayA < dayB ? -1 : 1;
  return Number(a.slice(11)) - Number(b.slice(11));
}

/** The first number of the day that no known incident has, above all of them. */
export function nextId(day: string, known: Iterable<string>): string {
  const numbers = [...known].filter((id) => id.startsWith(`${day}-`)).map((id) => Number(id.slice(11)));
  return `${day}-${mostOf(numbers, (number) => number) + 1}`;
}
