// The tests that mutants have to fail: those of one room that need no socket. mutants.ts names them.
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

function isProperty({ moduleId }: TestSpecification): boolean {
  return moduleId.includes('/test/property/');
}

/** Most mutants fail in a test that takes a moment; properties take seconds. */
class UnitFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve([...files.filter((file) => !isProperty(file)), ...files.filter(isProperty)]);
  }
}

export default defineConfig({
  test: {
    include: (process.env['MUTANTS_TESTS'] ?? '').split(','),
    setupFiles: ['test/mutation/same-histories.ts'],
    sequence: { sequencer: UnitFirst },
    isolate: false,
    testTimeout: 30_000,
  },
});
