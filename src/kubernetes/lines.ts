// Reads a stream of lines in chunks of any size, as a watch sends JSON documents. A line has a limit.

/** Yields each line without its end. Throws for a line above `maxBytes` and for a stream that ends within a line. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
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
    if (length > maxBytes) throw new Error(`an object of more than ${maxBytes} bytes`);
  }
  if (length > 0) throw new Error('the stream ended in the middle of an event');
}

/** The whole text. Throws when it is longer than `maxBytes`. */
export async function textOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length > maxBytes) throw new Error(`an answer of more than ${maxBytes} bytes`);
  }
  return Buffer.concat(parts).toString('utf8');
}
