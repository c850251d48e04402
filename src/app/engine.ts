// V8 as a proxy needs it. It is told here, not by options of Node: with those V8 does not take the code of Node's own
// modules that is in the program `node`, but compiles them anew, for 20 ms of the start.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Before the first request: undici's parser, in WebAssembly, is compiled once and stays so. It takes 20 MB less. */
export function compileOnce(): void {
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}

/**
 * At the start of a process that has sessions. V8 makes objects in the old generation if most of their kind have lived
 * long. An object of a closed session keeps young objects of other sessions from there, until the next full collection.
 */
export function keepObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** V8 would do it much later, in a pause of about 50 ms while clients wait. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
