// Are all large read buffers back? Found out as a session would: by lending them.
import { readBuffers } from '../../../src/proxy/relay/direct/read-buffers.ts';

/** How many more may be lent and kept between two reads. Gives all of them back. */
export function freeReadBuffers(): number {
  const lent = [];
  for (;;) {
    const buffer = readBuffers.large();
    const next = readBuffers.next(buffer, buffer.bytes.length - 1);
    if (next !== buffer) {
      readBuffers.giveBack(next);
      break;
    }
    lent.push(buffer);
  }
  for (const buffer of lent) readBuffers.giveBack(buffer);
  return lent.length;
}
