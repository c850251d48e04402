// Branches as routing targets: what the directory (branches/) knows of a branch, what a client's target leads to, and
// the operator's decisions. A branch is a timeline of a storage node or of a hosted console: a copy of a database that
// takes its own writes. Plain data. Durations are in milliseconds.
import type { Address } from './member.ts';

export const BRANCH_SOURCES = ['console', 'storage', 'static'] as const;
export type BranchSource = (typeof BRANCH_SOURCES)[number];

/** One branch of the list, as its source describes it. */
export interface Branch {
  readonly id: string;
  /** A timeline of a storage node has no name: the names file gives it one, or else the name is its id. */
  readonly name: string;
  /** Undefined: a root branch. Of the source `static` it is not known, and no branch counts as a root. */
  readonly parentId: string | undefined;
  /** Where the branch left its parent, `<hex>/<hex>`. */
  readonly parentLsn: string | undefined;
  /** Its own position. The console does not report it. */
  readonly lastRecordLsn: string | undefined;
  /** Whether it has an endpoint for reads. Undefined: the source does not say. */
  readonly hasReadEndpoint: boolean | undefined;
}

/** What a session on the listener needs: an exclusive pool writes, any other pool reads. */
export type BranchAccess = 'write' | 'read';

/** Where a branch is served. */
export interface BranchBackend {
  /** A name is resolved at each connect. It is the server name (SNI) as well. */
  readonly address: Address;
  /** The setting that gave the address. */
  readonly rule: 'override' | 'template' | 'read_template' | 'static';
  readonly tls: BranchTls;
}

/** `require`: plain clients only, because Pointsman's own TLS and channel binding exclude each other. */
export type BranchTls = 'off' | 'require';

export type BranchLookup =
  | { readonly kind: 'found'; readonly branch: Branch; readonly backend: BranchBackend }
  /** The list is fresh and has no such branch. */
  | { readonly kind: 'unknown' }
  /** `root`: production. `allow`: the operator's list of names excludes it. */
  | { readonly kind: 'not_allowed'; readonly branch: Branch; readonly why: 'root' | 'allow' }
  /** Several branches have this name or slug. */
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }
  /** The branch exists, and the configuration gives it no address: the reason, for the operator. */
  | { readonly kind: 'no_backend'; readonly branch: Branch; readonly why: string }
  /** The list has no such branch, and it cannot be read now: the reason, without a secret or an address. */
  | { readonly kind: 'unavailable'; readonly why: string };

/**
 * Finds a branch by its id, its exact name, or the slug of its name. A target that the list does not have is looked up
 * in a new list, which all that wait share. Never rejects.
 */
export type LocateBranch = (target: string, access: BranchAccess) => BranchLookup | Promise<BranchLookup>;

/** How long a client waits for a branch that wakes up. */
export interface BranchConnectPolicy {
  readonly attemptTimeoutMs: number;
  /** From the first attempt to the refusal. */
  readonly budgetMs: number;
}
