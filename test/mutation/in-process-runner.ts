// A test runner for Stryker that loads the tests once, and runs them in its own process for each mutant: in vitest a
// mutant costs a second, because it loads every file again.
import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addFailure, collected, HANGS, type PlainTest, runTest } from './plain-vitest.ts';

/** How often each mutant was reached, by its id. */
interface MutantCoverage {
  readonly static: Record<string, number>;
  readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Stryker's instrumented code reads and writes it. */
interface Instrumentation {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: MutantCoverage;
}

interface MutantRun {
  readonly activeMutant: { readonly id: string };
  /** The tests to run; undefined: all, with a mutant that is active while the code is loaded. */
  readonly testFilter?: readonly string[];
  readonly hitLimit?: number;
}

type MutantResult =
  | { readonly status: 'error'; readonly errorMessage: string }
  | { readonly status: 'survived'; readonly nrOfTests: number }
  | { readonly status: 'timeout'; readonly reason: string }
  | {
      readonly status: 'killed';
      readonly nrOfTests: number;
      readonly killedBy: readonly string[];
      readonly failureMessage: string;
    };

interface TestFile {
  readonly path: string;
  /** Its place among the kinds of tests, by price. */
  readonly price: number;
  /** The id that stands for the tables and cases that the file computes while it is loaded. */
  readonly loading: string;
  readonly tests: readonly PlainTest[];
}

interface Round {
  readonly file: TestFile;
  readonly tests: readonly PlainTest[];
  /** The mutant was active while these tests were loaded. */
  readonly isLoadedWith: boolean;
}

/** Tests of a kind run before those of the next one. */
const PRICES = [/^test\/(?:unit|property)\//, /^test\/integration\//, /^test\/mutation\//];
/** After so long no dearer test begins: what is alive then survives. */
const LONGEST_MS = 30_000;
const HANGS_MS = [10_000, 20_000, 60_000];
/** The run tries each mutant whose number it divides. */
const EVERY = Number(process.env['MUTANTS_EVERY'] ?? '1');

const code: Instrumentation = {};
Object.assign(globalThis, { __stryker__: code });
const PLAIN_VITEST = new URL('plain-vitest.ts', import.meta.url).href;

class InProcessRunner {
  #files: TestFile[] = [];
  #loads = 0;

  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: false };
  }

  init(): Promise<void> {
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === 'vitest' && !(context.parentURL ?? '').startsWith(PLAIN_VITEST)
          ? { url: PLAIN_VITEST, shortCircuit: true }
          : next(specifier, context),
    });
    return Promise.resolve();
  }

  async dryRun(): Promise<unknown> {
    await this.#load();
    const tests = [];
    const spentMs = new Map<string, number>();
    for (const { path, loading, tests: own } of this.#files) {
      tests.push({ id: loading, name: loading, fileName: path, status: 0, timeSpentMs: 1 });
      for (const test of own) {
        code.currentTestId = test.id;
        const began = performance.now();
        const failure = await runTest(test, LONGEST_MS * 2);
        code.currentTestId = undefined;
        const timeSpentMs = performance.now() - began;
        spentMs.set(test.id, timeSpentMs);
        const result = { id: test.id, name: test.id, fileName: path, timeSpentMs };
        tests.push(
          failure === undefined ? { ...result, status: 0 } : { ...result, status: 1, failureMessage: failure },
        );
      }
    }
    this.#quickFirst(spentMs);
    if (process.env['MUTANTS_CONSTANTS'] === 'false') withoutReached(code.mutantCoverage);
    return { status: 'complete', tests, mutantCoverage: code.mutantCoverage };
  }

  async mutantRun({ activeMutant: { id }, testFilter, hitLimit }: MutantRun): Promise<MutantResult> {
    if (Number(id) % EVERY !== 0) return { status: 'error', errorMessage: 'not in the sample' };
    code.hitCount = 0;
    code.hitLimit = hitLimit;
    try {
      if (testFilter === undefined) code.activeMutant = id;
      if (this.#files.length === 0) await this.#load();
      code.activeMutant = id;
      return await this.#judge(testFilter === undefined ? undefined : new Set(testFilter));
    } catch (error) {
      return { status: 'killed', nrOfTests: 1, killedBy: ['loading'], failureMessage: String(error) };
    } finally {
      code.activeMutant = undefined;
    }
  }

  async #judge(filter: ReadonlySet<string> | undefined): Promise<MutantResult> {
    let nrOfTests = 0;
    const began = performance.now();
    for await (const { file, tests, isLoadedWith } of this.#rounds(filter)) {
      for (const test of tests) {
        if (file.price > 0 && performance.now() - began > LONGEST_MS) return { status: 'survived', nrOfTests };
        nrOfTests += 1;
        const failure = await this.#failureOf(file, test);
        if (failure === undefined) continue;
        if (!isLoadedWith) {
          this.#killedLast(file, test);
          await this.#expectHealth(file, test, filter === undefined);
        }
        return { status: 'killed', nrOfTests, killedBy: [test.id], failureMessage: failure };
      }
    }
    return { status: 'survived', nrOfTests };
  }

  /** An earlier mutant may leave something behind that fails a test over sockets, but not twice. */
  async #failureOf({ price }: TestFile, test: PlainTest): Promise<string | undefined> {
    const failure = await runTest(test, HANGS_MS[price]);
    if (price === 0 || failure === undefined || failure.includes(HANGS)) return failure;
    return runTest(test, HANGS_MS[price]);
  }

  /** Most mutants die in some test of a millisecond. */
  #quickFirst(spentMs: ReadonlyMap<string, number>): void {
    const timeOf = ({ id }: PlainTest): number => spentMs.get(id) ?? 0;
    const longest = ({ tests }: TestFile): number => Math.max(0, ...tests.map(timeOf));
    this.#files = this.#files
      .map((file) => ({ ...file, tests: file.tests.toSorted((a, b) => timeOf(a) - timeOf(b)) }))
      .toSorted((a, b) => a.price - b.price || longest(a) - longest(b));
  }

  /** The test that killed one mutant often kills the next one. */
  #killedLast(file: TestFile, test: PlainTest): void {
    const first = { ...file, tests: [test, ...file.tests.filter(({ id }) => id !== test.id)] };
    this.#files = [first, ...this.#files.filter(({ path }) => path !== file.path)].toSorted(
      (a, b) => a.price - b.price,
    );
  }

  /** Tests as they are loaded come first: to load a file again takes longer than most tests. */
  async *#rounds(filter: ReadonlySet<string> | undefined): AsyncIterable<Round> {
    const files = this.#files;
    for (const file of files) {
      yield { file, tests: file.tests.filter(({ id }) => filter?.has(id) ?? true), isLoadedWith: false };
    }
    for (const file of files) {
      if (file.price > 0 || filter?.has(file.loading) !== true) continue;
      yield { file, tests: await this.#loadFile(file.path), isLoadedWith: true };
    }
  }

  /** A mutant may leave something behind that fails all tests after it. */
  async #expectHealth({ path, price, tests }: TestFile, { id }: PlainTest, loadedWithMutant: boolean): Promise<void> {
    if (loadedWithMutant) return;
    code.activeMutant = undefined;
    const test = tests.find((own) => own.id === id);
    if (test !== undefined && (await runTest(test, HANGS_MS[price])) !== undefined) {
      console.error(`${id} of ${path} fails without the mutant`);
      process.exit(1);
    }
  }

  async #load(): Promise<void> {
    const paths = (process.env['MUTANTS_TESTS'] ?? '').split(',').flatMap((pattern) => globSync(pattern).toSorted());
    await import(pathToFileURL(resolve('test/mutation/same-histories.ts')).href);
    // All tests depend on values that the code computes while it is loaded.
    for (const path of paths) for (const url of importsOf(path)) await import(url);
    for (const path of paths) {
      const loading = `${path} is loaded`;
      code.currentTestId = loading;
      const price = PRICES.findIndex((kind) => kind.test(path));
      this.#files.push({ path, price, loading, tests: await this.#loadFile(path) });
      code.currentTestId = undefined;
    }
  }

  async #loadFile(path: string): Promise<readonly PlainTest[]> {
    this.#loads += 1;
    await import(`${pathToFileURL(resolve(path)).href}?load=${this.#loads}`);
    return collected(relative('.', path));
  }
}

/** A mutant that tests reach, too, needs no process of its own to die. */
function withoutReached(coverage: MutantCoverage | undefined): void {
  for (const reached of Object.values(coverage?.perTest ?? {})) {
    for (const id of Object.keys(reached)) delete coverage?.static[id];
  }
}

/** Imported files of the repository. */
function importsOf(path: string): readonly string[] {
  const specifiers = readFileSync(path, 'utf8').matchAll(/^(?:import|} from) .*?'(\.[^']*)';$/gm);
  return [...specifiers].map(([, specifier = '']) => new URL(specifier, pathToFileURL(resolve(path))).href);
}

process.on('unhandledRejection', addFailure);
process.on('uncaughtException', addFailure);

export const strykerPlugins = [{ kind: 'TestRunner', name: 'in-process', injectableClass: InProcessRunner }];
