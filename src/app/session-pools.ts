// The names under which sessions are counted.
import type { Config } from '../config/config.ts';
import { BRANCHES_POOL } from '../model/branch.ts';
import type { PoolName } from '../model/policy.ts';

export function sessionPools({ pools, branches }: Pick<Config, 'pools' | 'branches'>): readonly PoolName[] {
  const names = pools.map(({ name }) => name);
  return branches === undefined ? names : [...names, BRANCHES_POOL];
}
