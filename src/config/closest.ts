// Did you mean …?
import { distance } from 'fastest-levenshtein';
import { shown } from '../model/printable.ts';

/** The candidate that `word` was probably meant to be; undefined when none is near. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const nearest = candidates
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)[0];
  const bound = Math.min(word.length - 1, Math.max(2, Math.floor(word.length * 0.3)));
  return nearest !== undefined && nearest.edits <= bound ? nearest.candidate : undefined;
}

/** `unknown member pg2: did you mean pg-2? The members are pg-1, pg-2`. `what`: in the singular. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const near = closest(name, known);
  const all = `${what}s are ${known.join(', ') || '(none)'}`;
  return `unknown ${what} ${shown(name)}: ${near === undefined ? `the ${all}` : `did you mean ${near}? The ${all}`}`;
}
