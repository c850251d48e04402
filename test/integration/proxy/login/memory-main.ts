// A process with a proxy that searches its own memory. Argument: the options of the proxy as JSON. It prints its port.
// Each line of its input is a list of secrets, masked, in hexadecimal; it prints how often each of them is there, and
// the same for a number that nobody has used: its own search leaves traces.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { verifierOpener } from '../../../../src/verifiers/batch.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';

const BLOCK = 1 << 20;
const MASK = 0x5a;

const lab = await startProxyLab({
  ...JSON.parse(process.argv[2] ?? ''),
  openVerifiers: verifierOpener(systemClock),
});
console.log(lab.address('write').port);

function occurrences(masked: Buffer): number {
  const wanted = Buffer.alloc(masked.length);
  for (const [at, byte] of masked.entries()) wanted[at] = byte ^ MASK;
  const memory = openSync('/proc/self/mem', 'r');
  const block = Buffer.alloc(BLOCK + wanted.length);
  let found = 0;
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    const end = Number.parseInt(to, 16);
    for (let at = Number.parseInt(from, 16); at < end; at += BLOCK) {
      const length = readHere(memory, block, Math.min(block.length, end - at), at);
      for (let hit = block.indexOf(wanted); hit !== -1 && hit < length; hit = block.indexOf(wanted, hit + 1))
        found += 1;
    }
  }
  wanted.fill(0);
  closeSync(memory);
  return found;
}

/** Some regions cannot be read. */
function readHere(memory: number, block: Buffer, length: number, at: number): number {
  block.fill(0);
  try {
    return Math.min(BLOCK, readSync(memory, block, 0, length, at));
  } catch {
    return 0;
  }
}

for await (const line of createInterface(process.stdin)) {
  const secrets = line.split(' ').map((text) => Buffer.from(text, 'hex'));
  console.log(JSON.stringify([...secrets, randomBytes(32)].map(occurrences)));
}
await lab.end();
