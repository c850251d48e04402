// Whether the tests run in CI, which is thorough where a developer's machine is quick.

export function isCi(): boolean {
  const ci = process.env['CI'];
  return ci !== undefined && ci !== '' && ci !== 'false' && ci !== '0';
}

/** How often a test repeats its rounds. */
export function rounds(locally: number, inCi: number): number {
  return isCi() ? inCi : locally;
}
