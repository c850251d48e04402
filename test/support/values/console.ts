// The sources of a console, for tests: a pool with clients in every state, and a pool without a route.
import type { StatusDocument } from '../../../src/admin/status-document.ts';
import type { ConsoleSources } from '../../../src/console/shows/shows.ts';

export const STATUS: StatusDocument = {
  version: '1.2.3',
  uptime_seconds: 5,
  ready: true,
  cluster: {
    scope: 'demo',
    system_identifier: '71',
    timeline: 2,
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
      state: 'running',
      timeline: 2,
      paused: false,
      cluster_unlocked: false,
      failsafe: false,
      pending_restart: true,
      last_answer_age_seconds: 0.25,
      pools: { write: { standing: 'open', why: 'ok' }, read: { standing: 'leave', cause: 'promoted', why: 'no' } },
    },
  ],
  refused_members: [],
  pools: [
    {
      name: 'write',
      check: '/primary',
      exclusive: true,
      route: { kind: 'open', members: [{ name: 'pg-1', address: '10.0.0.1:5432' }], fallback: null },
      why: 'pg-1 serves',
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
      why: 'no eligible member, clients wait',
      sessions: null,
    },
  ],
};

export function aConsoleSources(overrides: Partial<ConsoleSources> = {}): ConsoleSources {
  return {
    version: '1.2.3',
    status: () => Promise.resolve(STATUS),
    settings: () => Promise.resolve([{ key: 'probe.rise', value: '2', default: '1', changeable: true }]),
    ...overrides,
  };
}
