// Asks the other members over their management APIs: "When the leader lock is free, each node calls the node status
// endpoint of the other members".
import { createReader } from '../../patroni/read-documents.ts';
import { isNoFailover, type PeerAnswer } from './election.ts';
import type { PublishedMember } from './view.ts';

/** Resolves within the deadline with one result per member. */
export type AskPeers = (members: readonly PublishedMember[], deadlineMs: number) => Promise<readonly PeerAnswer[]>;

export function createAskPeers(dialect: 'manager' | 'patroni'): AskPeers {
  const reader = createReader({ dialect });
  return (members, deadlineMs) => Promise.all(members.map((member) => ask(member, deadlineMs)));

  async function ask({ name, apiUrl, tags }: PublishedMember, deadlineMs: number): Promise<PeerAnswer> {
    const { protocol, hostname, port, host } = new URL(apiUrl);
    const api = { url: `${protocol}//${host}`, address: { host: hostname, port: Number(port) } };
    const read = await reader.readNodeStatus(api, deadlineMs);
    if (read.kind !== 'status') return { name, kind: 'silent' };
    const { role, state, location, received, replayed } = read.status;
    return {
      name,
      kind: 'answered',
      isPrimary: role === 'primary' && state === 'running',
      // The last known values of a stopped server do not make it a candidate.
      position: state === 'running' ? greatest([location, received, replayed]) : undefined,
      isNoFailover: isNoFailover(tags),
    };
  }
}

function greatest(positions: readonly (number | string | undefined)[]): number | undefined {
  const known = positions.filter((position) => typeof position === 'number');
  return known.length === 0 ? undefined : Math.max(...known);
}
