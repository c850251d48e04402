// The functions of vitest that the tests of the rooms use. Here a test is a function that can run again and again.
import { expect, vi as ofVitest } from 'vitest';

export { expect };

type Body = (...args: never[]) => unknown;
type Hook = () => unknown;

export interface PlainTest {
  readonly id: string;
  readonly before: readonly Hook[];
  readonly after: readonly Hook[];
  readonly run: Hook;
}

interface Suite {
  readonly name: string;
  readonly parent: Suite | undefined;
  readonly before: Hook[];
  readonly after: Hook[];
}

export const HANGS = 'The test hangs';
const HANGS_MS = 10_000;
let hangsMs = HANGS_MS;
const { setTimeout: later, clearTimeout: stop, setImmediate: soon } = globalThis;

/** These tests fake no other timer. */
const immediates: Hook[] = [];
const FAKE_TIMERS = {
  useFakeTimers: () => Object.assign(globalThis, { setImmediate: (run: Hook) => immediates.push(run) }),
  runAllTimers: () => {
    for (let run = immediates.shift(); run !== undefined; run = immediates.shift()) run();
  },
  useRealTimers: () => Object.assign(globalThis, { setImmediate: soon }),
};
/** vitest's own fake timers need its runner. */
export const vi = new Proxy(ofVitest, {
  get: (target, name): unknown => Reflect.get(name in FAKE_TIMERS ? FAKE_TIMERS : target, name),
});

let suite = aSuite('', undefined);
let tests: { readonly name: string; readonly within: Suite; readonly run: Hook }[] = [];
let finished: Hook[] = [];
let failures: unknown[] = [];
let fails: (reason: unknown) => void = () => undefined;

/** The tests that were described since the last call. */
export function collected(file: string): readonly PlainTest[] {
  const all = tests.map(({ name, within, run }, index) => ({
    id: `${file} #${index} ${name}`,
    before: hooksOf(within, 'before'),
    after: hooksOf(within, 'after'),
    run,
  }));
  tests = [];
  suite = aSuite('', undefined);
  return all;
}

/** Undefined: it holds. Each of its steps takes `withinMs` at the most. */
export async function runTest({ before, after, run }: PlainTest, withinMs = HANGS_MS): Promise<string | undefined> {
  hangsMs = withinMs;
  failures = [];
  finished = [];
  try {
    for (const hook of [...before, run]) await ends(hook());
  } catch (error) {
    return String(error);
  } finally {
    for (const hook of [...finished, ...after]) await ends(hook());
  }
  return failures.length === 0 ? undefined : String(failures[0]);
}

/** An error that no code handles: the test ends. */
export function addFailure(reason: unknown): void {
  failures.push(reason);
  fails(reason);
}

export function describe(name: string, body: Hook): void {
  suite = aSuite(name, suite);
  body();
  suite = suite.parent ?? suite;
}
describe.each = (cases: readonly unknown[]) => (name: string, body: Body) =>
  forEach(cases, body, (run) => describe(name, run));
describe.skipIf = (skip: boolean) => (skip ? () => undefined : describe);

export function test(name: string, ...rest: readonly unknown[]): void {
  const run = rest.find((one): one is Hook => typeof one === 'function');
  if (run !== undefined) tests.push({ name, within: suite, run });
}
test.each =
  (cases: readonly unknown[]) =>
  (name: string, ...rest: readonly unknown[]) => {
    const body = rest.find((one): one is Body => typeof one === 'function');
    if (body !== undefined) forEach(cases, body, (run) => test(name, run));
  };
test.skipIf = (skip: boolean) => (skip ? () => undefined : test);

export { test as it };

export function beforeEach(hook: Hook): void {
  suite.before.push(hook);
}
export function afterEach(hook: Hook): void {
  suite.after.push(hook);
}

export function beforeAll(hook: Hook): void {
  let result: { readonly of: unknown } | undefined;
  beforeEach(() => (result ??= { of: hook() }).of);
}
/** The process ends then. */
export function afterAll(): void {}
export function onTestFinished(hook: Hook): void {
  finished.push(hook);
}

function aSuite(name: string, parent: Suite | undefined): Suite {
  return { name, parent, before: [], after: [] };
}

function hooksOf(within: Suite | undefined, kind: 'before' | 'after'): readonly Hook[] {
  if (within === undefined) return [];
  const outer = hooksOf(within.parent, kind);
  return kind === 'before' ? [...outer, ...within[kind]] : [...within[kind], ...outer];
}

function forEach(cases: readonly unknown[], body: Body, use: (run: Hook) => void): void {
  for (const one of cases) use(() => Reflect.apply(body, undefined, Array.isArray(one) ? one : [one]));
}

async function ends(result: unknown): Promise<void> {
  if (!(result instanceof Promise)) return;
  let timer: ReturnType<typeof later> | undefined;
  const hangs = new Promise((_resolve, reject) => {
    timer = later(() => reject(new Error(HANGS)), hangsMs);
    fails = reject;
  });
  try {
    await Promise.race([result, hangs]);
    // Rejections that nobody handles are reported after it.
    await new Promise((resolve) => soon(resolve));
  } finally {
    stop(timer);
  }
}
