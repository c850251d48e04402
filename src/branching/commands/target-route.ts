// Where clients of a branch are routed, in words.
import type { BranchIndex, ListLookup } from '../../branches/resolve.ts';
import type { Branch, BranchAccess, BranchBackend } from '../../model/branch.ts';
import { addressText } from '../../model/member.ts';
import { shown } from '../../model/printable.ts';

export type TargetRoute =
  | { readonly kind: 'routed'; readonly branch: Branch; readonly backend: BranchBackend; readonly address: string }
  | {
      readonly kind: 'refused';
      /** For a table: `a root`. */
      readonly short: string;
      /** A sentence for the operator, without a full stop. */
      readonly why: string;
      /** The SQLSTATE for the client. */
      readonly sqlstate: string;
      /** A rule of the configuration or of the grammar, and not a fault. */
      readonly isRule: boolean;
    };

export function routeTo(target: string, access: BranchAccess, index: BranchIndex): TargetRoute {
  const lookup = index.lookup(target, access);
  return lookup.kind === 'found'
    ? { ...lookup, kind: 'routed', address: addressText(lookup.backend.address) }
    : { kind: 'refused', ...refusalOf(lookup) };
}

function refusalOf(lookup: Exclude<ListLookup, { kind: 'found' }>): Omit<TargetRoute & { kind: 'refused' }, 'kind'> {
  switch (lookup.kind) {
    case 'unknown':
      return {
        short: 'unknown',
        why: 'no branch has this id, this name or a name with this slug',
        sqlstate: '3D000',
        isRule: false,
      };
    case 'not_allowed':
      return lookup.why === 'root'
        ? {
            short: 'a root',
            why: 'it is a root, so it may be production. A pattern in branches.allow that names it allows it',
            sqlstate: '28000',
            isRule: true,
          }
        : { short: 'not in allow', why: 'no pattern of branches.allow has its name', sqlstate: '28000', isRule: true };
    case 'ambiguous': {
      const ids = lookup.ids.map(shown).join(', ');
      return {
        short: 'ambiguous',
        why: `several branches have this name or slug: use an id, one of ${ids}`,
        sqlstate: '22023',
        isRule: true,
      };
    }
    case 'no_backend':
      return { short: 'no address', why: lookup.why, sqlstate: '57P03', isRule: false };
  }
}
