// The roles whose sessions move, by the patterns of `moves.roles`.

/** `*` in a pattern stands for any characters. */
export function isNamed(role: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matches(role, pattern));
}

function matches(role: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(role);
}
