// The beginning of a foreign text for an error: one printable line without secrets.
import { onOneLine } from '../model/printable.ts';

/** Characters. */
const MOST_SHOWN = 500;
/** Enough for what is shown, after secrets are replaced. Characters. */
const MOST_READ = 20_000;

const HIDDEN = '***';

/** `secrets`: exact texts that must not appear. Other things that look like a secret are replaced as well. */
export function excerpt(text: string, secrets: readonly string[]): string {
  const cut = text.length > MOST_READ ? text.slice(0, MOST_READ).replace(/\S+$/, '') : text;
  const known = secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, HIDDEN)), cut);
  const hidden = known
    .replaceAll(/:\/\/[^\s/@"']*@/g, `://${HIDDEN}@`)
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${HIDDEN}`)
    .replaceAll(NAMED, `$1${HIDDEN}`)
    .replaceAll(/(?<![\w-])[\w+/=-]{32,}/g, (word) => (isOpaque(word) ? HIDDEN : word));
  return shorten(onOneLine(hidden).trim());
}

const NAME = String.raw`(?:password|passwd|secret|token|api[-_]?key|authorization|credentials?)["']?\s*[:=]\s*`;
const VALUE = String.raw`"[^"]*"?|'[^']*'?|[^\s,;}"']+`;
/** `"api_key": "…"`, `password=…` */
const NAMED = new RegExp(`(${NAME})(?:${VALUE})`, 'gi');

/** Keys have letters and digits. Ids of this interface have a prefix, and tell an operator which thing is meant. */
function isOpaque(word: string): boolean {
  return /\d/.test(word) && /[A-Za-z]/.test(word) && !/^(?:skill|file|toolu|skillver|agent|req)_/.test(word);
}

function shorten(text: string): string {
  if (text.length <= MOST_SHOWN) return text;
  const halfCharacter = /[\uD800-\uDBFF]$/;
  return `${text.slice(0, MOST_SHOWN - 1).replace(halfCharacter, '')}…`;
}
