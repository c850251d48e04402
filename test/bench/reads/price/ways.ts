// The ways to read whose price is compared.

export interface Way {
  readonly name: string;
  /** The reads go there. */
  readonly pool: 'plain' | 'gated' | 'write';
  /** `synchronous_commit` of the writers. */
  readonly commit: 'local' | 'remote_apply';
}

/** The others are compared with the first. */
export const WAYS: readonly Way[] = [
  { name: 'no gate', pool: 'plain', commit: 'local' },
  { name: '`causal_reads`', pool: 'gated', commit: 'local' },
  { name: 'at the primary', pool: 'write', commit: 'local' },
  { name: '`remote_apply`, no gate', pool: 'plain', commit: 'remote_apply' },
];

/** Without writes `remote_apply` is no way of its own. */
export function waysFor(writes: number): readonly Way[] {
  return WAYS.filter(({ commit }) => writes > 0 || commit === 'local');
}
