import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import type { TestProjectConfiguration } from 'vitest/config';
import { isCi } from './support/runner/ci.ts';
import { lanes } from './support/runner/lanes.ts';

// `npm test` runs `unit`, `simulation`, `integration*` and `e2e*`, `npm run test:slow` the others: test/README.md.

/** Processes that tests start are up in half the time. */
const ENV = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/tests') };

/** For tests that start the program. */
const BUILD = resolve(import.meta.dirname, 'support/processes/build-for-tests.ts');

/** Files at a time. */
const LANES = lanes();

/** A Patroni cluster is a dozen processes, and drivers are compiled: two files fill two cores. */
const SLOW_LANES = Math.max(2, availableParallelism());

/** These print how long a failover took, compare processor time, or fill all cores: nothing else runs beside them. */
const MEASURED = named('frozen-api', 'host-death', 'page/failover', 'restart-in-place', 'switchover');

/**
 * One mocks a module of Node, one counts objects in its heap, the others what their process keeps open: each has a
 * process of its own.
 */
const ALONE = integration(
  'cli/several',
  'console/hostile',
  'guarantees/bounds',
  'proxy/chaos',
  'proxy/login/login-steps',
  'proxy/moves/chaos',
  'proxy/relay/waiting-bytes',
  'proxy/startup/tls-leaks',
  'workers/chaos',
);
/** These stop processes, and then judge by ages and deadlines. They mostly wait: two at a time, and nothing else. */
const STOPPED = integration('app/after-a-stall', 'app/clock-faults', 'app/stopped', 'process/freeze');
/** These flood processes, and then judge by deadlines: nothing else runs beside them. */
const FLOODED = integration('process/open-files', 'process/under-attack');

/** Three processes that start together take 20 s on a machine that is busy. The waits in a test say what took long. */
const PROCESSES_MS = 60_000;
const CLUSTERS_MS = 120_000;

/**
 * These need programs that few machines have, or minutes: drivers, containers, compilers, Kubernetes' own types,
 * every example of the help, every look of the page, the grace period of a pod, the time-outs of TCP, a schedule.
 */
const SLOW = [
  ...named(
    'causal-reads',
    'drivers',
    'examples',
    'image',
    'keepalived',
    'systemd',
    'moves/by-others',
    'moves/drivers-15',
    'moves/drivers-18',
    'moves/drivers-encrypted',
    'moves/system-postgres',
    'moves/vanished-packets',
    'moves/working-drivers',
    'page/last-hour',
    'page/looks',
    'pod-life',
  ),
  ...integration('deploy/chart', 'deploy/kustomize', 'deploy/package'),
];
/** On the sandbox. The measured files for Patroni are a project of their own. */
const SLOW_MEASURED = named('bench-runs', 'bench-short', 'host-death', 'page/failover');

const files = globSync('test/e2e/**/*.test.ts', { cwd: resolve(import.meta.dirname, '..') }).toSorted();
/** A file for every kind of cluster belongs to two projects: each of them registers its own kind. */
const patroni = files.filter((file) => describesOn(file, 'Patroni|EveryCluster'));
const sandbox = files.filter((file) => !patroni.includes(file) || describesOn(file, 'Sandbox|EveryCluster'));
/** CI runs the scenarios for every kind of cluster on Patroni alone, but for the measured ones. */
const onPatroniAlone = isCi() ? patroni.filter((file) => !describesOn(file, 'Sandbox')) : [];

function integration(...names: readonly string[]): readonly string[] {
  return names.map((name) => `test/integration/${name}.test.ts`);
}

function named(...names: readonly string[]): readonly string[] {
  return names.map((name) => `test/e2e/${name}.test.ts`);
}

function describesOn(file: string, kinds: string): boolean {
  const text = readFileSync(resolve(import.meta.dirname, '..', file), 'utf8');
  return new RegExp(`^describeOn(${kinds})\\(`, 'm').test(text);
}

interface Project {
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** Undefined: without a cluster. */
  readonly clusters?: 'sandbox' | 'patroni';
  /** False: its files share processes, which import the program once. */
  readonly isolate?: false;
  readonly maxWorkers: number;
  readonly groupOrder: number;
}

/** Its tests start processes, of the build. */
function project(name: string, of: Project): TestProjectConfiguration {
  const { include, exclude = [], clusters, isolate = true, maxWorkers, groupOrder } = of;
  const timeoutMs = clusters === undefined ? PROCESSES_MS : CLUSTERS_MS;
  return {
    test: {
      name,
      include: [...include],
      exclude: [...exclude],
      env: clusters === undefined ? ENV : { ...ENV, POINTSMAN_TEST_CLUSTERS: clusters },
      globalSetup: BUILD,
      isolate,
      maxWorkers,
      maxConcurrency: 2,
      sequence: { groupOrder },
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
    },
  };
}

const without = (all: readonly string[], ...others: readonly (readonly string[])[]): readonly string[] =>
  all.filter((file) => !others.flat().includes(file));
const within = (all: readonly string[], some: readonly string[]): readonly string[] =>
  all.filter((file) => some.includes(file));

/** vitest begins with the largest files. These are short, but take longest; the others fill the lanes behind them. */
const LONGEST = [...files.filter((file) => file.startsWith('test/e2e/contract/')), ...SLOW].map((file) => `/${file}`);

function isLong({ moduleId }: TestSpecification): boolean {
  return LONGEST.some((file) => moduleId.endsWith(file));
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of vitest's class
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts', 'test/fuzz/*.test.ts'],
          // Pure code needs no process of its own for each file: a third of the time.
          isolate: false,
          // A property over hundreds of histories takes its time on a busy machine.
          testTimeout: 30_000,
          maxWorkers: LANES,
        },
      },
      {
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts'],
          env: ENV,
          globalSetup: resolve(import.meta.dirname, 'simulation/situations-folder.ts'),
          maxWorkers: LANES,
          sequence: { groupOrder: 0 },
          testTimeout: PROCESSES_MS,
        },
      },
      project('integration', {
        include: ['test/integration/**/*.test.ts'],
        exclude: [...ALONE, ...STOPPED, ...FLOODED, ...SLOW],
        isolate: false,
        maxWorkers: LANES,
        groupOrder: 0,
      }),
      project('integration-alone', { include: ALONE, maxWorkers: LANES, groupOrder: 0 }),
      project('integration-stopped', { include: STOPPED, maxWorkers: 2, groupOrder: 1 }),
      project('integration-flooded', { include: FLOODED, maxWorkers: 1, groupOrder: 2 }),
      // In one group with `unit` and `integration`, which fill the lanes when these files end.
      project('e2e', {
        include: without(sandbox, MEASURED, SLOW, SLOW_MEASURED, onPatroniAlone),
        clusters: 'sandbox',
        maxWorkers: LANES,
        groupOrder: 0,
      }),
      project('e2e-measured', {
        include: without(within(sandbox, MEASURED), SLOW_MEASURED),
        clusters: 'sandbox',
        maxWorkers: 1,
        groupOrder: 2,
      }),
      project('slow', {
        include: without(SLOW, onPatroniAlone),
        clusters: 'sandbox',
        maxWorkers: SLOW_LANES,
        groupOrder: 3,
      }),
      project('slow-measured', { include: SLOW_MEASURED, clusters: 'sandbox', maxWorkers: 1, groupOrder: 4 }),
      project('patroni', {
        include: without(patroni, MEASURED),
        clusters: 'patroni',
        maxWorkers: SLOW_LANES,
        groupOrder: 3,
      }),
      project('patroni-measured', {
        include: within(patroni, MEASURED),
        clusters: 'patroni',
        maxWorkers: 1,
        groupOrder: 4,
      }),
    ],
  },
});
