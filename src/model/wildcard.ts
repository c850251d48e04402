// Patterns in which `*` stands for any characters, as settings have them. Names of clients and documents are matched,
// so the time must not explode with their length, as that of a regular expression with several stars does.

/** Each part between two stars is looked for once, behind the one before it. */
export function matchesWildcard(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
