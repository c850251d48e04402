// Why a file cannot be read, in a few words.
const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['EISDIR', 'it is a directory'],
]);

export function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return REASONS.get(code) ?? code;
}
