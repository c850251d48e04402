// The client of a running sandbox, for commands in a second terminal. Every outcome is a value.
import { request } from 'undici';
import { z } from 'zod';
import { outcomeSchema, endpointsSchema } from './control-protocol.ts';
import type { Endpoints } from './control-protocol.ts';
import type { VerbOutcome } from './verb-list.ts';

/** A switchover takes time, and so does making a member anew. */
const DEADLINE_MS = 90_000;

/** Resolves when the verb is done or has failed. Never rejects. */
export function askToPerform(address: string, verb: string, target: string | undefined): Promise<VerbOutcome> {
  return asking(address, async () => {
    const { body } = await request(`http://${address}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ verb, target }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    return outcomeSchema.parse(await body.json());
  });
}

/** Never rejects. */
export function askEndpoints(address: string): Promise<Endpoints | VerbOutcome> {
  return asking(address, async () => {
    const { body } = await request(`http://${address}/`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    return z.union([endpointsSchema, outcomeSchema]).parse(await body.json());
  });
}

async function asking<T>(address: string, ask: () => Promise<T>): Promise<T | VerbOutcome> {
  try {
    return await ask();
  } catch (error) {
    return { kind: 'failed', text: why(address, error) };
  }
}

function why(address: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED') return `no sandbox runs at ${address}; \`pointsman sandbox\` starts one`;
  if (error instanceof z.ZodError || error instanceof SyntaxError) return `${address} is not a sandbox`;
  return `${address}: ${error instanceof Error ? error.message : String(error)}`;
}
