// Resolves the names of the hosts of branches. Node resolves a name in one of four threads, which a silent name server
// keeps for seconds, and members' names and files need these threads as well. So few names of branches are resolved at
// a time, and each once for all clients that wait for it.
import type { LookupFunction } from 'node:net';
import { keepingStep } from '../fault.ts';

type Callback = Parameters<LookupFunction>[2];

/** Names at a time. */
const MOST = 2;

export function limitedLookup(resolve: LookupFunction): LookupFunction {
  const waiting: (() => void)[] = [];
  const callbacks = new Map<string, Callback[]>();
  let underWay = 0;
  return (host, options, given) => {
    // A session that asked for the same name, or before, may have its answer call this.
    const callback = keepingStep(given);
    const key = JSON.stringify([host, options]);
    const known = callbacks.get(key);
    if (known !== undefined) return void known.push(callback);
    const mine = [callback];
    callbacks.set(key, mine);
    const begin = (): void => {
      underWay += 1;
      resolve(host, options, (...result) => {
        underWay -= 1;
        callbacks.delete(key);
        waiting.shift()?.();
        for (const tell of mine) tell(...result);
      });
    };
    if (underWay < MOST) begin();
    else waiting.push(begin);
    return undefined;
  };
}
