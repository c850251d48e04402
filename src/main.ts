#!/usr/bin/env -S node --max-semi-space-size=4
// The program `pointsman`: checks Node's version, then loads the command line. An old Node reads this file alone, so it
// keeps to the syntax of Node 12 and imports nothing before the check.
//
// The flag of the first line saves memory: V8's young generation stays small. It would grow beyond 100 MB.

/** As in `engines` of the manifest. */
const NEEDED_MAJOR = 24;
const NEEDED_MINOR = 12;

const [major = 0, minor = 0] = process.version.slice(1).split('.').map(Number);

if (major < NEEDED_MAJOR || (major === NEEDED_MAJOR && minor < NEEDED_MINOR)) {
  process.stderr.write(
    `pointsman needs Node ${NEEDED_MAJOR}.${NEEDED_MINOR} or newer; this is ${process.version}\n` +
      'In a clone of the repository, npx node uses the Node that npm ci installed: npx node dist/main.js\n',
  );
  process.exitCode = 1;
} else {
  // Node would open its debugger, which every user of the machine can enter, and which shows all memory.
  process.on('SIGUSR1', () => {});
  void import('./app/command-line.ts').then(({ commandLine }) => commandLine(process));
}
