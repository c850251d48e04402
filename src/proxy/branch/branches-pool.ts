// The reserved pool of the sessions whose target is a branch. They are counted under its name, and no decision, drain
// or limit of a pool concerns them.
import { BRANCHES_POOL } from '../../model/branch.ts';
import type { PoolPolicy } from '../../model/policy.ts';

/** It has no member, so nothing reads its check, its balance or its fallback. */
export const BRANCHES_POLICY: PoolPolicy = {
  name: BRANCHES_POOL,
  check: { text: '/health', path: '/health', family: 'health', lagBytes: undefined, tags: new Map() },
  exclusive: false,
  balance: 'random',
  weightTag: undefined,
  zoneTag: undefined,
  slowStartMs: 0,
  maxSessionAgeMs: undefined,
  fallback: undefined,
  whenAllLagging: 'refuse',
  maxLaggingSessions: 0,
  onLeave: {
    dead: 'keep',
    demoted: 'keep',
    silent: 'keep',
    promoted: 'keep',
    lagging: 'keep',
    check_failed: 'keep',
    old_timeline: 'keep',
    tagged_out: 'keep',
    removed: 'keep',
    operator: 'keep',
    fallback_over: 'keep',
  },
  drainTimeoutMs: 0,
  relocateAfterMs: 0,
};
