// The image and the benchmark start Node with the options of the program's first line.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { flagsOf } from '../bench/data-path/peers/pointsman-build.ts';

test('the program needs the Node of the manifest', () => {
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [, major, minor] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node) ?? [];
  const source = readFileSync('src/main.ts', 'utf8');
  expect(source).toContain(`NEEDED_MAJOR = ${major};`);
  expect(source).toContain(`NEEDED_MINOR = ${minor};`);
});

test('the image starts the command with the options of its first line', () => {
  const flags = flagsOf('src/main.ts');
  expect(flags).toContain('--max-semi-space-size=4');
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  const entrypoint = /^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]';
  expect(JSON.parse(entrypoint)).toEqual(['/usr/local/bin/node', ...flags, '/app/dist/main.js']);
  // V8 rejects compiled code from other options, if they change its code.
  expect(dockerfile).toContain(`node ${flags.join(' ')} dist/main.js version`);
});
