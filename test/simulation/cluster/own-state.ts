// A member as it sees itself: for its key in the store, and for an election.
import type { PostgresServer } from '../postgres/server.ts';
import type { Host } from '../world/world.ts';
import type { OwnState } from './election.ts';
import type { NodeDocument } from './node-document.ts';
import type { MemberKey, Tags } from './store.ts';

interface MemberIdentity {
  readonly name: string;
  readonly host: Host;
  readonly apiPort: number;
  readonly server: PostgresServer;
  readonly tags: Tags;
}

export function memberKey(document: NodeDocument, { name, host, apiPort, server, tags }: MemberIdentity): MemberKey {
  const { state, role, timeline, replication_state: replicationState, xlog } = document;
  const place = (field: string): number | undefined => {
    const value = xlog?.[field];
    return typeof value === 'number' ? value : undefined;
  };
  return {
    name,
    apiUrl: `http://${host.address}:${apiPort}/patroni`,
    host: host.address,
    port: server.port,
    state,
    role,
    timeline,
    position: place('location') ?? place('received_location'),
    replayed: place('replayed_location'),
    replicationState,
    tags,
  };
}

export function ownState({ name, server, tags }: MemberIdentity): OwnState {
  const state = server.state();
  return {
    name,
    isRunning: state === 'standby' || state === 'primary',
    isPrimary: state === 'primary',
    timeline: server.timeline(),
    position: server.wal.end(),
    isNoFailover: tags['nofailover'] === true,
  };
}
