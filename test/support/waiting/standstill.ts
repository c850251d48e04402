// Waiting until something moves no more.
import { until } from './until.ts';

/** A pause of the machine counts as one look, whatever it lasts. */
const LOOKS = 50;
const STILL_MS = 200;

/** Resolves with the value of `read` when it has not changed for so long and so many looks. It must be above zero. */
export async function standstill(read: () => number): Promise<number> {
  let [seen, since, looks] = [0, performance.now(), 0];
  return await until('standstill', () => {
    const now = read();
    if (now !== seen) [seen, since, looks] = [now, performance.now(), 0];
    looks += 1;
    return seen > 0 && looks > LOOKS && performance.now() - since > STILL_MS ? seen : undefined;
  });
}
