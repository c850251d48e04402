// A branch as its source lists it, and the lookup that finds it.
import type { Branch, BranchLookup } from '../../../src/model/branch.ts';
import type { Address } from '../../../src/model/member.ts';

export function aBranch(changes: Partial<Branch> = {}): Branch {
  return {
    id: 'br-aged-salad',
    name: 'pr-1',
    parentId: 'br-main',
    parentLsn: '0/3000000',
    lastRecordLsn: undefined,
    hasReadEndpoint: undefined,
    ...changes,
  };
}

export function foundAt(address: Address, changes: Partial<Branch> = {}): Extract<BranchLookup, { kind: 'found' }> {
  return { kind: 'found', branch: aBranch(changes), backend: { address, rule: 'template', tls: 'off' } };
}
