// Did you mean …?
import { distance } from 'fastest-levenshtein';
import { unknownText } from '../model/printable.ts';

/** The candidate that `word` was probably meant to be; undefined when none is near. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const nearest = candidates
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)[0];
  const bound = Math.min(word.length - 1, Math.max(2, Math.floor(word.length * 0.3)));
  return nearest !== undefined && nearest.edits <= bound ? nearest.candidate : undefined;
}

/** `what`: in the singular. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  return unknownText(what, name, known, closest(name, known));
}
