// The inputs and the fields of a status document that most tests are not about.
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import type { StatusDocumentOptions } from '../../../src/admin/status.ts';
import { aPolicy } from './builders.ts';
import { DecidedHistory } from './decided-history.ts';

type Basics = Pick<
  StatusDocumentOptions,
  'version' | 'startedAt' | 'wallClock' | 'readiness' | 'client' | 'hold' | 'config' | 'history'
>;

export const STATUS_BASICS: Basics = {
  version: '0',
  startedAt: 0,
  wallClock: Date.UTC(2026, 0, 1),
  readiness: { ready: true },
  client: {
    startupTimeoutMs: 60_000,
    maxSessions: 10_000,
    maxDisconnectsPerSecond: 100,
    tls: { mode: 'passthrough' },
  },
  hold: { clientTimeoutMs: 30_000, maxSessions: 1000, outageTimeoutMs: 60_000, maxConnectsPerSecond: 100 },
  config: { source: 'pointsman.yaml', hash: '0123456789abcdef', loaded_at: '2026-01-01T00:00:00.000Z' },
  history: new DecidedHistory(aPolicy()).history,
};

const TIME = '2026-01-01T00:00:00.000Z';

export const STATUS_FIELDS: Pick<StatusDocument, 'time' | 'started_at' | 'config' | 'limits' | 'recent_events'> = {
  time: TIME,
  started_at: TIME,
  config: { source: 'pointsman.yaml', hash: '0123456789abcdef', loaded_at: TIME },
  limits: {
    max_sessions: 10_000,
    max_sessions_per_address: null,
    max_handshakes: null,
    max_waiting_clients: 1000,
    client_wait_seconds: 30,
    park_seconds: null,
    outage_seconds: 60,
    max_connects_per_second: 100,
  },
  recent_events: [],
};
