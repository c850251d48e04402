// A stream of JSON documents, one a line, as a watch sends it: whatever the chunks are cut like. A line has a bound.

/** Yields each line without its end; throws when one is longer than `mostBytes` or the stream ends within one. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      parts.push(chunk.subarray(from, end));
      const line = Buffer.concat(parts).toString('utf8');
      parts = [];
      length = 0;
      from = end + 1;
      if (line.trim() !== '') yield line;
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > mostBytes) throw new Error(`an object of more than ${mostBytes} bytes`);
  }
  if (length > 0) throw new Error('the stream ended in the middle of an event');
}

/** The whole text; throws when it is longer than `mostBytes`. */
export async function textOf(chunks: AsyncIterable<Uint8Array>, mostBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length > mostBytes) throw new Error(`an answer of more than ${mostBytes} bytes`);
  }
  return Buffer.concat(parts).toString('utf8');
}
