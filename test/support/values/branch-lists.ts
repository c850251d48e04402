// Branches and policies for tests of the room `branches`.
import { aPool } from './builders.ts';
import type { Branch, BranchesPolicy } from '../../../src/model/branch.ts';

/** A branch with a parent, named by its id without `br-`. */
export function branch(id: string, fields: Partial<Branch> = {}): Branch {
  return {
    id,
    name: id.replace(/^br-/, ''),
    parentId: 'br-main',
    parentLsn: '0/1000000',
    lastRecordLsn: undefined,
    hasReadEndpoint: undefined,
    ...fields,
  };
}

export const ROOT: Branch = branch('br-main', { parentId: undefined, parentLsn: undefined });

type Given = Partial<Omit<BranchesPolicy, 'backends'>> & { readonly backends?: Partial<BranchesPolicy['backends']> };

/** A console whose branches listen at `{id}.test:5432`. */
export function branchesPolicy({ backends, ...fields }: Given = {}): BranchesPolicy {
  return {
    source: { kind: 'console', url: 'http://console.test', project: 'p', apiKeyFile: '/no/key' },
    refreshMs: 15_000,
    allow: undefined,
    pool: aPool({ name: 'branches' }),
    connect: { attemptTimeoutMs: 5000, budgetMs: 30_000 },
    ...fields,
    backends: {
      template: { host: '{id}.test', port: 5432 },
      readTemplate: undefined,
      overrides: new Map(),
      readOverrides: new Map(),
      tls: 'off',
      caFile: undefined,
      ...backends,
    },
  };
}
