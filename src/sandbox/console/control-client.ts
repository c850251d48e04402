// The client of a running sandbox, for commands in a second terminal. Every outcome is a value.
import { z } from 'zod';
import { errorOf } from '../../http/exchange-error.ts';
import { exchange, type ExchangeRequest } from '../../http/exchange.ts';
import { outcomeSchema, endpointsSchema, type Endpoints } from './control-protocol.ts';
import type { VerbOutcome } from './verb-list.ts';

/** A switchover takes time, and so does making a member anew. */
const DEADLINE_MS = 90_000;

/** Resolves when the verb is done or has failed. Never rejects. */
export function askToPerform(address: string, verb: string, target: string | undefined): Promise<VerbOutcome> {
  return ask(address, { method: 'POST', json: { verb, target } }, (answer) => outcomeSchema.parse(answer));
}

/** Never rejects. */
export function askEndpoints(address: string): Promise<Endpoints | VerbOutcome> {
  return ask(address, {}, (answer) => z.union([endpointsSchema, outcomeSchema]).parse(answer));
}

async function ask<T>(
  address: string,
  request: Pick<ExchangeRequest, 'method' | 'json'>,
  read: (answer: unknown) => T,
): Promise<T | VerbOutcome> {
  try {
    const { body } = await exchange({ ...request, url: `http://${address}`, path: '/', deadlineMs: DEADLINE_MS });
    return read(JSON.parse(body));
  } catch (error) {
    return { kind: 'failed', text: why(address, error) };
  }
}

function why(address: string, error: unknown): string {
  if (error instanceof z.ZodError || error instanceof SyntaxError) return `${address} is not a sandbox`;
  const { fault, message } = errorOf(error);
  if (fault === 'refused') return `no sandbox runs at ${address}; \`pointsman sandbox\` starts one`;
  return fault === 'malformed' ? `${address} is not a sandbox` : `${address}: ${message}`;
}
