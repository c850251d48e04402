// Makes foreign text (of members and clients) printable before it appears in a log line, in /status or in a DETAIL.

/** The longest foreign text in a sentence. Characters. */
const MAX_SHOWN = 128;

const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu;

/** Without line breaks, control characters and changes of direction. */
export function onOneLine(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}

/** One printable line of at most 128 characters. */
export function shown(text: string): string {
  return beginningOf(text, MAX_SHOWN);
}

/** One printable line of at most `most` characters. */
export function beginningOf(text: string, most: number): string {
  return onOneLine(text.slice(0, 4 * most)).slice(0, most);
}

/** `unknown member pg2: did you mean pg-2? The members are pg-1, pg-2`. `what`: in the singular. */
export function unknownText(what: string, name: string, known: readonly string[], near?: string): string {
  const all = `${what}s are ${known.join(', ') || '(none)'}`;
  return `unknown ${what} ${shown(name)}: ${near === undefined ? `the ${all}` : `did you mean ${near}? The ${all}`}`;
}
