import { defineConfig } from 'vitest/config';

// Three projects, so that the quick ones can be run alone: `vitest run --project unit`.
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts'],
          // What is pure needs no process of its own for each file: a third of the time.
          isolate: false,
          // A property over hundreds of histories takes its time on a busy machine.
          testTimeout: 30_000,
        },
      },
      { test: { name: 'integration', include: ['test/integration/**/*.test.ts'], testTimeout: 20_000 } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // After the others and one file at a time: these hold real time.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
