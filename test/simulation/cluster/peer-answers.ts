// The answers of the other members of a cluster to a member that wants the leader lock. A member that does not answer
// does not count.
import { ownJson } from '../postgres/own-json.ts';
import type { Host } from '../world/world.ts';
import type { PeerAnswer } from './election.ts';
import type { NodeDocument } from './node-document.ts';
import { apiAt } from './store-service.ts';
import type { MemberKey } from './store.ts';

/** Shorter than Patroni's 2 s, as its other times here. Milliseconds. */
const PEER_MS = 700;

export async function peerAnswers(host: Host, members: readonly MemberKey[]): Promise<readonly PeerAnswer[]> {
  const answers = await Promise.all(members.map((member) => ask(host, member)));
  return answers.filter((answer) => answer !== undefined);
}

async function ask(host: Host, { name, apiUrl, tags }: MemberKey): Promise<PeerAnswer | undefined> {
  const { hostname, port, pathname } = new URL(apiUrl);
  const answer = await host.request({ api: apiAt(hostname, Number(port)), path: pathname, deadlineMs: PEER_MS });
  const node = answer.kind === 'answered' ? documentOf(answer.body) : undefined;
  if (node === undefined) return undefined;
  const { state, role, timeline = 0, xlog } = node;
  return {
    name,
    isPrimary: role === 'primary',
    isRunning: state === 'running',
    timeline,
    position: Number(xlog?.['location'] ?? xlog?.['received_location'] ?? 0),
    isNoFailover: tags['nofailover'] === true,
  };
}

/** Undefined: a faulty API has answered with something else. */
function documentOf(body: string): NodeDocument | undefined {
  try {
    return ownJson<NodeDocument>(body);
  } catch {
    return undefined;
  }
}
