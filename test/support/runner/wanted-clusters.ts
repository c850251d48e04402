// The kind of cluster that this project of test/vitest.config.ts runs. A file for several kinds belongs to one project
// of each kind, so that the slower kind does not hold up the quick one.

export function isWanted(kind: 'sandbox' | 'patroni'): boolean {
  return process.env['POINTSMAN_TEST_CLUSTERS'] === kind;
}
