// Tests with prerequisites that a machine may lack. They are skipped with one line that names the missing part and how
// to get it. In CI that is a failure, because a skipped test looks like a passed one.
import { describe, it } from 'vitest';
import { isCi } from './ci.ts';

/** `missing`: for people, with how to install it; undefined when nothing is. */
export function describeUnless(missing: string | undefined, name: string, define: () => void): void {
  if (missing === undefined) {
    describe(name, define);
  } else if (isCi()) {
    describe(name, () => it('has what it needs', () => fail(missing)));
  } else {
    console.warn(`skipped: ${name}. It needs ${missing}`);
    describe.skip(name, define);
  }
}

/** The same for one test. */
export function itUnless(
  missing: string | undefined,
  name: string,
  run: () => Promise<void>,
  timeoutMs?: number,
): void {
  if (missing === undefined) {
    it(name, run, timeoutMs);
  } else if (isCi()) {
    it(name, () => fail(missing));
  } else {
    console.warn(`skipped: ${name}. It needs ${missing}`);
    it.skip(name, run);
  }
}

function fail(missing: string): never {
  throw new Error(`missing on this machine: ${missing}`);
}
