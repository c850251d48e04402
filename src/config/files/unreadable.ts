// The reason why a file cannot be read, for the operator.

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['EISDIR', 'it is a directory'],
]);

/** `cannot be read: permission denied`; takes an error of node:fs. */
export function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `cannot be read: ${REASONS.get(code) ?? code}`;
}
