// Why a file cannot be read, in words for the operator.

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['EISDIR', 'it is a directory'],
]);

/** `cannot be read: permission denied`; takes what node:fs throws. */
export function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `cannot be read: ${REASONS.get(code) ?? code}`;
}
