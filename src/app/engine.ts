// V8 as a proxy needs it. It is told here, not by options of Node: with those V8 does not take the code of Node's own
// modules that is in the program `node`, but compiles them anew, for 20 ms of the start.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Before the app is made. */
export function beforeStart(): void {
  compileOnce();
  keepObjectsYoung();
  optimizeExpressions(false);
}

/** Before sessions are open. */
export function afterStart(): void {
  optimizeExpressions(true);
  collectGarbage();
}

/** Before the first request: undici's parser, in WebAssembly, is compiled once and stays so. It takes 20 MB less. */
function compileOnce(): void {
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}

/**
 * At the start of a process that has sessions. V8 makes objects in the old generation if most of their kind have lived
 * long. An object of a closed session keeps young objects of other sessions from there, until the next full collection.
 */
export function keepObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * V8 optimizes a regular expression as it compiles it: 8 ms for Node's one of an IPv6 address, which each `listen`
 * asks. An expression that is compiled meanwhile stays as it is.
 */
function optimizeExpressions(isOn: boolean): void {
  setFlagsFromString(isOn ? '--regexp-optimization' : '--no-regexp-optimization');
}

/**
 * The start leaves 5 MB. Later objects would lie between what is garbage now, and V8 would keep that memory. V8 would
 * collect it much later, in a pause of about 50 ms while clients wait.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
