// A configuration that comes by standard input (`-c -`), read in a process of its own.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('standard input has the same limit, and is read to its end', () => {
  const module = new URL('../../../src/config/source/read-file.ts', import.meta.url);
  const script = `import { readWhole } from ${JSON.stringify(module.href)};
    try { console.log(readWhole('-').length); } catch ({ code }) { console.log(code); }`;
  const read = (bytes: number): string =>
    spawnSync(process.execPath, ['--input-type=module', '--eval', script], { input: 'x'.repeat(bytes) })
      .stdout.toString()
      .trim();
  expect(read(300_000)).toBe('300000');
  expect(read(5_000_000)).toBe('EFBIG');
});
