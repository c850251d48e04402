// Requests a switchover as an operator would: POST /switchover of the primary's management API.
import { request } from 'undici';
import type { SandboxMember } from '../sandbox.ts';
import type { VerbOutcome } from './verb-list.ts';

const DEADLINE_MS = 30_000;

/** Resolves when the new primary accepts writes, or with the manager's own reason. */
export async function requestSwitchover(leader: SandboxMember, candidate: string | undefined): Promise<VerbOutcome> {
  const { statusCode, body } = await request(`${leader.api}/switchover`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ leader: leader.name, ...(candidate === undefined ? {} : { candidate }) }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  const text = (await body.text()).trim();
  if (statusCode === 200) return { kind: 'done', text };
  return { kind: statusCode === 412 ? 'refused' : 'failed', text: `switchover: ${text}` };
}
