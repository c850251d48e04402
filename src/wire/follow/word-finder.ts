// Tells fast that a text has none of some words, without making a string of it: one look into a table for each byte, as
// in the automaton of Aho and Corasick. Nearly all statements have none. Pure.

const FOUND = 0;
const END = 1;
const ROOT = 2;
const BYTES = 256;
const CASE = 0x20;
const LETTER = /[a-z]/;
const IN_A_WORD = /\w/;

/** Returns the place of the NUL that ends the text from `from`. -1: a word is in it, or `end` comes before the NUL. */
export type WordFinder = (bytes: Uint8Array, from: number, end: number) => number;

/**
 * `words`: ASCII in lower case; the text may have them in any case, and within longer words. Behind a word with a `$`
 * at its end no letter, digit or underscore may stand.
 */
export function finderOf(words: readonly string[]): WordFinder {
  // Made when the first text comes: most processes read none.
  let made: Uint16Array | undefined;
  return (bytes, from, end) => {
    const table = (made ??= tableOf(words));
    let state = ROOT;
    for (let at = from; at < end; at += 1) {
      state = table[state * BYTES + (bytes[at] ?? 0)] ?? FOUND;
      if (state === END) return at;
      if (state === FOUND) return -1;
    }
    return -1;
  };
}

/** The next state for each state and byte. A state is the longest end of the text so far that begins a word. */
function tableOf(words: readonly string[]): Uint16Array {
  const bounded = words.filter((word) => word.endsWith('$')).map((word) => word.slice(0, -1));
  const beginnings = [...new Set(words.flatMap(properBeginnings))];
  const states = new Map(beginnings.map((beginning, index) => [beginning, ROOT + index]));
  const alphabet = new Set(words.join(''));
  const table = new Uint16Array((ROOT + states.size) * BYTES).fill(ROOT);
  for (const [beginning, state] of states) {
    table[state * BYTES] = END;
    for (const char of alphabet) {
      const text = beginning + char;
      const next = words.some((word) => text.endsWith(word)) ? FOUND : longestIn(states, text);
      const byte = char.charCodeAt(0);
      table[state * BYTES + byte] = next;
      if (LETTER.test(char)) table[state * BYTES + byte - CASE] = next;
    }
    // Last, because a byte that ends this word may be one of another word.
    if (bounded.some((word) => beginning.endsWith(word))) {
      for (let byte = 0; byte < BYTES; byte += 1) {
        if (!IN_A_WORD.test(String.fromCharCode(byte))) table[state * BYTES + byte] = FOUND;
      }
    }
  }
  return table;
}

function longestIn(states: ReadonlyMap<string, number>, text: string): number {
  for (let from = 0; from < text.length; from += 1) {
    const state = states.get(text.slice(from));
    if (state !== undefined) return state;
  }
  return ROOT;
}

/** The empty one first, and the `$` is never in one. */
function properBeginnings(word: string): readonly string[] {
  return Array.from(word, (_, length) => word.slice(0, length));
}
