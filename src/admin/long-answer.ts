// An answer that is made while it is sent, because the whole of it would take much memory, and its making would keep
// sessions waiting. Nothing is made for a client that does not read.
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { API_VERSION } from './answer.ts';

export interface LongAnswer {
  readonly type: string;
  /** Each has some kB. */
  readonly parts: Iterable<string>;
}

/** Characters. */
const PART = 32_768;

/** A JSON object with a long list at its end: one line for each entry. */
export function longJson(document: object, name: string, list: Iterable<object>): LongAnswer {
  const head = JSON.stringify({ api_version: API_VERSION, ...document }).slice(0, -1);
  return { type: 'application/json', parts: { [Symbol.iterator]: () => partsOf(`${head},"${name}":[\n`, list) } };
}

function* partsOf(head: string, list: Iterable<object>): Generator<string, void> {
  let text = head;
  let separator = '';
  for (const one of list) {
    text += `${separator}${JSON.stringify(one)}`;
    separator = ',\n';
    if (text.length < PART) continue;
    yield text;
    text = '';
  }
  yield `${text}\n]}\n`;
}

/** Resolves when all parts are sent, or the client has gone. If a part cannot be made, the answer is cut. */
export async function sendParts(response: ServerResponse, parts: Iterable<string>): Promise<void> {
  // A pipeline that fails destroys the response.
  await pipeline(oneATurn(response.req.method === 'HEAD' ? [] : parts), response).catch(() => {});
}

async function* oneATurn(parts: Iterable<string>): AsyncGenerator<string, void> {
  for (const part of parts) {
    yield part;
    await nextTurn();
  }
}
