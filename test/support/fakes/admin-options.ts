// Options of an admin server whose parts answer nothing of interest. A test replaces the parts that it is about.
import { RecentEvents } from '../../../src/admin/recent-events.ts';
import { createOperationLock } from '../../../src/admin/operation-lock.ts';
import type { OwnOperationOutcome } from '../../../src/admin/endpoints/operation-endpoints.ts';
import type { AdminOptions } from '../../../src/admin/admin-server.ts';
import { createStreams } from '../../../src/admin/streams.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';
import { EVENT_NAMES } from '../../../src/telemetry/event-names.ts';

const done: OwnOperationOutcome = { kind: 'done', result: {} };

export function adminOptions(own: Partial<AdminOptions> = {}): AdminOptions {
  return {
    version: '0',
    pageDirectory: '/nowhere',
    address: { host: '127.0.0.1', port: 0 },
    allowedHosts: () => [],
    status: () => {
      throw new Error('this test has no status');
    },
    samples: () => ({ interval_seconds: 5, times: [], pools: {}, members: {} }),
    metrics: () => Promise.resolve(''),
    readiness: () => ({ ready: true }),
    pools: () => [],
    timeline: () => ({ from: '', to: '', spans: [] }),
    incidents: {
      list: () => [],
      get: () => Promise.resolve(undefined),
      text: () => Promise.resolve(undefined),
      currentId: () => undefined,
    },
    configuration: () => Promise.resolve({}),
    token: () => Promise.resolve({ kind: 'none' }),
    operationLock: createOperationLock(),
    streams: createStreams(),
    events: new RecentEvents({ ids: new EventIds('r1'), wallClock: () => 0 }),
    eventNames: EVENT_NAMES,
    liveStatus: {
      follow: () => {
        throw new Error('this test has no status');
      },
    },
    branches: () => Promise.resolve(undefined),
    cluster: () => Promise.reject(new Error('this test has no cluster')),
    sessions: {
      list: () => Promise.resolve({ sessions: [], total: 0, silentWorkers: [] }),
      kill: () => Promise.resolve({ kind: 'unknown' }),
      move: () => Promise.resolve({ kind: 'unknown' }),
      pools: () => [],
      members: () => [],
      now: () => 0,
    },
    switchovers: {
      plan: () => Promise.reject(new Error('this test has no plan')),
      start: () => Promise.resolve({ kind: 'busy' }),
      list: () => [],
      find: () => undefined,
      cancel: () => ({ kind: 'unknown' }),
    },
    operations: {
      refresh: () => done,
      reload: () => Promise.resolve(done),
      drain: () => done,
      resume: () => done,
      accept: () => done,
    },
    ...own,
  };
}
