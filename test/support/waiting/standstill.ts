// Waiting until something moves no more.
import { until } from './until.ts';

/** A pause of the machine counts as one look, whatever it lasts. */
const LOOKS = 50;
const STILL_MS = 200;

/** Resolves with what `read` gives when that has been the same for so long and so many looks. Above zero: nothing has moved before. */
export async function standstill(read: () => number): Promise<number> {
  let [seen, since, looks] = [0, performance.now(), 0];
  return await until('standstill', () => {
    const now = read();
    if (now !== seen) [seen, since, looks] = [now, performance.now(), 0];
    looks += 1;
    return seen > 0 && looks > LOOKS && performance.now() - since > STILL_MS ? seen : undefined;
  });
}
