// The sources of a console, for tests: a pool with clients in every state, and a pool without a route.
import type { BranchesDocument } from '../../../src/documents/branches-document.ts';
import type { SessionsDocument } from '../../../src/documents/sessions-document.ts';
import { STATUS_FIELDS } from './status-basics.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import type { ConsoleSources } from '../../../src/console/console-table.ts';

export const STATUS: StatusDocument = {
  version: '1.2.3',
  ...STATUS_FIELDS,
  uptime_seconds: 5,
  ready: true,
  cluster: {
    scope: 'demo',
    system_identifier: '71',
    timeline: 2,
    primary: null,
    last_interruption: null,
    first_round_complete: true,
    drained: [],
    scheduled_switchover: null,
  },
  members: [
    {
      name: 'pg-1',
      api: 'http://10.0.0.1:8008',
      postgres: '10.0.0.1:5432',
      origin: 'discovered',
      role: 'primary',
      role_text: 'primary',
      state: 'running',
      timeline: 2,
      paused: false,
      cluster_unlocked: false,
      failsafe: false,
      pending_restart: true,
      last_answer_age_seconds: 0.25,
      lag_bytes: null,
      staleness_seconds: null,
      pools: {
        write: {
          standing: 'open',
          place: { sign: 'routed', word: 'routed' },
          why: 'ok',
          weight: 1,
          zone: null,
          far: false,
        },
        read: {
          standing: 'leave',
          place: { sign: 'idle', word: 'fallback' },
          cause: 'promoted',
          why: 'no',
          weight: 1,
          zone: null,
          far: false,
        },
      },
    },
  ],
  notices: [],
  refused_members: [],
  pools: [
    {
      name: 'write',
      check: '/primary',
      exclusive: true,
      route: { kind: 'open', members: [{ name: 'pg-1', address: '10.0.0.1:5432' }], fallback: null },
      route_since: STATUS_FIELDS.time,
      why: 'pg-1 serves',
      on_drain: 'drain',
      sessions: {
        by_state: { startup: 1, holding: 2, dialing: 3, relaying: 4, closing: 5 },
        by_member: { 'pg-1': 7 },
        by_fallback: 0,
        longest_wait_seconds: 2.375,
        accepted: 100,
        closed: 85,
        to_backend_bytes: 2 ** 40,
        to_client_bytes: 12,
      },
    },
    {
      name: 'read',
      check: '/replica?lag=16MB',
      exclusive: false,
      route: { kind: 'hold', cause: 'no_member' },
      route_since: STATUS_FIELDS.time,
      why: 'no eligible member, clients wait',
      on_drain: 'drain',
      sessions: null,
    },
  ],
};

export const SESSION: SessionsDocument['sessions'][number] = {
  id: 2 ** 40,
  pool: 'write',
  member: 'pg-1',
  branch: null,
  client: '10.0.0.9:51234',
  via: null,
  listener: '127.0.0.1:6432',
  user: 'app',
  database: 'shop',
  application: 'psql',
  state: 'relaying',
  activity: 'idle',
  tls: 'none',
  opaque: false,
  age_seconds: 60,
  state_seconds: 59.5,
  held_seconds: 0,
  to_backend_bytes: 2 ** 33,
  to_client_bytes: 1,
};

/** A root, which cannot be reached, and a branch of it. */
export const BRANCHES: BranchesDocument = {
  source: 'storage',
  read_at: STATUS_FIELDS.time,
  age_seconds: 4,
  failing: null,
  silent_workers: [],
  branches: [
    {
      id: 'aa01',
      name: 'main',
      parent_id: null,
      parent_name: null,
      parent_lsn: null,
      last_record_lsn: '1/2000',
      behind_parent_bytes: null,
      written_bytes: null,
      has_read_endpoint: null,
      backend: null,
      read_backend: null,
      rule: null,
      why_no_backend: 'it is a root (production)',
      sessions: 0,
    },
    {
      id: 'bb02',
      name: 'pr-1',
      parent_id: 'aa01',
      parent_name: 'main',
      parent_lsn: '1/1000',
      last_record_lsn: '1/1800',
      behind_parent_bytes: 4096,
      written_bytes: 2048,
      has_read_endpoint: null,
      backend: '10.0.0.9:55432',
      read_backend: '10.0.0.9:55432',
      rule: 'template',
      why_no_backend: null,
      sessions: 3,
    },
  ],
};

/** A client that is served, and one that waits. */
export const SESSIONS: SessionsDocument = {
  total: 2,
  left_out: 0,
  silent_workers: [],
  sessions: [
    SESSION,
    {
      ...SESSION,
      id: 2,
      member: null,
      client: '[::1]:40000',
      user: null,
      state: 'holding',
      activity: null,
      tls: null,
      state_seconds: 1.5,
      held_seconds: 2.25,
    },
  ],
};

export function aConsoleSources(overrides: Partial<ConsoleSources> = {}): ConsoleSources {
  return {
    version: '1.2.3',
    status: () => Promise.resolve(STATUS),
    sessions: () => Promise.resolve(SESSIONS),
    branches: () => Promise.resolve(BRANCHES),
    settings: () => Promise.resolve([{ key: 'probe.rise', value: '2', default: '1', changeable: true }]),
    ...overrides,
  };
}
