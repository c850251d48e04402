// The plan of a switchover of three members, one of which may not be the next primary.
import type { PlanOfPrimary } from '../../../src/documents/switchover-document.ts';
import { STREAMING } from './switchover-lab.ts';

const candidate = { role: 'replica', ...STREAMING, why: null };
export const PLAN: PlanOfPrimary = {
  from: 'pg-1',
  to: null,
  candidates: [
    { name: 'pg-2', ...candidate, eligible: true },
    { name: 'pg-3', ...candidate, lag_bytes: null, eligible: false, why: 'its lag is unknown' },
  ],
  transaction_timeout_ms: 10_000,
  longest_hold_ms: 28_000,
  fleet: null,
  problems: [],
  warnings: [],
  sessions_on_primary: 100,
  unreadable_sessions_on_primary: 3,
  moves: null,
  stays_text: null,
};
