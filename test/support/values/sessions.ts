// A relayed session as the registry sees one, without sockets.
import type { SessionEntry } from '../../../src/reports/session-list.ts';
import { Socket } from 'node:net';
import type { SessionHandle } from '../../../src/proxy/stage.ts';

export function aSessionEntry(changes: Partial<SessionEntry> = {}): SessionEntry {
  return {
    id: 1,
    pool: 'write',
    member: 'pg-1',
    client: '10.0.0.5:51234',
    via: undefined,
    listener: '127.0.0.1:6432',
    user: 'app',
    database: 'shop',
    application: 'orders',
    state: 'relaying',
    activity: 'idle',
    tls: 'none',
    acceptedAt: 0,
    stateSince: 0,
    heldMs: 0,
    toBackendBytes: 0,
    toClientBytes: 0,
    ...changes,
  };
}

export function aSessionHandle(changes: Partial<SessionHandle> = {}): SessionHandle {
  const entry = aSessionEntry();
  return {
    id: 1,
    pool: 'write',
    client: entry.client,
    listener: { host: '127.0.0.1', port: 6432 },
    state: 'relaying',
    assignment: () => undefined,
    isIdle: () => true,
    settlesInMs: () => 0,
    onIdle: () => () => {},
    entry: () => entry,
    sockets: () => ({ client: new Socket(), backend: undefined }),
    end() {},
    cut() {},
    endStatement: () => 'none',
    movable: undefined,
    reroute() {},
    ...changes,
  };
}
