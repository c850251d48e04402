// Status documents for tests of the page's texts and layout.
import type { MemberStatusDocument } from '../../../src/documents/member-document.ts';
import type { PoolStatusDocument, StatusDocument } from '../../../src/documents/status-document.ts';
import { STATUS_FIELDS } from '../values/status-basics.ts';

export function poolOf(name: string, own: Partial<PoolStatusDocument> = {}): PoolStatusDocument {
  return {
    name,
    check: '/replica',
    exclusive: false,
    route: { kind: 'open', members: [], fallback: null },
    route_since: '2026-01-01T00:00:00.000Z',
    why: 'open',
    on_drain: 'drain',
    sessions: null,
    ...own,
  };
}

/** `pools`: in each of them it has been excluded as a replica. */
export function memberOf(
  name: string,
  pools: readonly string[],
  own: Partial<MemberStatusDocument> = {},
): MemberStatusDocument {
  const place = { sign: 'idle' as const, word: 'is a replica' };
  const standing = { place, cause: 'not_primary', why: 'is a replica', weight: 1, zone: null, far: false };
  return {
    name,
    api: 'http://127.0.0.1:8008',
    postgres: '127.0.0.1:5432',
    origin: 'discovered',
    role: 'replica',
    role_text: 'replica',
    state: 'streaming',
    timeline: 1,
    lag_bytes: 0,
    staleness_seconds: 0,
    paused: false,
    cluster_unlocked: false,
    failsafe: false,
    pending_restart: false,
    last_answer_age_seconds: 0.5,
    pools: Object.fromEntries(pools.map((pool) => [pool, { ...standing, standing: 'leave' as const }])),
    ...own,
  };
}

export function statusOf(own: Partial<StatusDocument>): StatusDocument {
  return {
    version: '1.2.3',
    ...STATUS_FIELDS,
    uptime_seconds: 1,
    ready: true,
    cluster: {
      scope: 'lab',
      system_identifier: null,
      timeline: 1,
      primary: null,
      last_interruption: null,
      first_round_complete: true,
      drained: [],
      scheduled_switchover: null,
    },
    notices: [],
    members: [],
    refused_members: [],
    pools: [],
    ...own,
  };
}

/** An open route on these members. */
export const openOn = (...names: readonly string[]) => ({
  kind: 'open' as const,
  members: names.map((name) => ({ name, address: '127.0.0.1:5432' })),
  fallback: null,
});
