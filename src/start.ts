#!/usr/bin/env -S node --max-semi-space-size=2 --liftoff-only --expose-gc
// dist/main.js: rejects an old Node with one sentence, then loads the program. An old Node parses only this file, so it
// uses only syntax of Node 12 and imports nothing before the check.

/** The same as `engines` in package.json. */
const NEEDED_MAJOR = 24;
const NEEDED_MINOR = 12;

const [major = 0, minor = 0] = process.version.slice(1).split('.').map(Number);

if (major < NEEDED_MAJOR || (major === NEEDED_MAJOR && minor < NEEDED_MINOR)) {
  process.stderr.write(`pointsman needs Node ${NEEDED_MAJOR}.${NEEDED_MINOR} or newer; this is ${process.version}\n`);
  process.exitCode = 1;
} else {
  void import('./main.ts');
}
