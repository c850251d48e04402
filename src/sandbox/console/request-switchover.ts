// Requests a switchover as an operator would: POST /switchover of the primary's management API.
import { exchange } from '../../http/exchange.ts';
import type { SandboxMember } from '../sandbox.ts';
import type { VerbOutcome } from './verb-list.ts';

const DEADLINE_MS = 30_000;

/** Resolves when the new primary accepts writes, or with the manager's own reason. */
export async function requestSwitchover(leader: SandboxMember, candidate: string | undefined): Promise<VerbOutcome> {
  const { status, body } = await exchange({
    url: leader.api,
    method: 'POST',
    path: '/switchover',
    json: { leader: leader.name, ...(candidate === undefined ? {} : { candidate }) },
    deadlineMs: DEADLINE_MS,
  });
  const text = body.trim();
  if (status === 200) return { kind: 'done', text };
  return { kind: status === 412 ? 'refused' : 'failed', text: `switchover: ${text}` };
}
