// Literals in statements of ours. A text must have no backslash: a setting of the session decides its meaning.

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** `'a', 'b'` */
export function literals(texts: readonly string[]): string {
  return texts.map(literal).join(', ');
}
