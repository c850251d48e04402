// Branches as routing targets: what the directory (branches/) knows of a branch, what a client's target leads to, and
// the operator's decisions. A branch is a timeline of a storage node or of a hosted console: a copy of a database that
// takes its own writes. Plain data. Durations are in milliseconds.
import type { Instant } from './instant.ts';
import type { Address } from './member.ts';
import type { PoolName, PoolPolicy } from './policy.ts';

export const BRANCH_SOURCES = ['console', 'storage', 'static'] as const;
export type BranchSource = (typeof BRANCH_SOURCES)[number];

/** One branch of the list, as its source describes it. */
export interface Branch {
  readonly id: string;
  /** A timeline of a storage node has no name: the names file gives it one, or else the name is its id. */
  readonly name: string;
  /** Undefined: a root branch. Of the source `static` it is not known, and no branch counts as a root. */
  readonly parentId?: string | undefined;
  /** Where the branch left its parent, `<hex>/<hex>`. */
  readonly parentLsn?: string | undefined;
  /** Its own position. The console does not report it. */
  readonly lastRecordLsn?: string | undefined;
  /** Whether it has an endpoint for reads. Undefined: the source does not say. */
  readonly hasReadEndpoint?: boolean | undefined;
}

export const ENDPOINT_TYPES = ['read_write', 'read_only'] as const;
export type EndpointType = (typeof ENDPOINT_TYPES)[number];

/** A branch as events, lists of sessions and documents name it. Its name may change; its id does not. */
export type BranchIdentity = Pick<Branch, 'id' | 'name'>;

/**
 * Why a source did not give its list. `denied`: 401 or 403. `rejected`: any other answer below 500 that is no list.
 * `invalid_answer`: a body that cannot be read. `local`: a file of ours, such as the API key.
 */
export const BRANCH_LIST_FAILURES = [
  'unreachable',
  'timeout',
  'denied',
  'rejected',
  'server_error',
  'invalid_answer',
  'local',
] as const;
export type BranchListFailure = (typeof BRANCH_LIST_FAILURES)[number];

/** The list in use, at one moment. */
export interface BranchListStatus {
  readonly source: BranchSource;
  /** 0 before the first successful read. */
  readonly branches: number;
  /** When the read of the list in use began. Undefined: no read has succeeded yet. */
  readonly readAt: Instant | undefined;
  /** Undefined: the last read succeeded, or none has ended yet. */
  readonly failing: { readonly failure: BranchListFailure; readonly why: string; readonly since: Instant } | undefined;
}

/** The directory's reports of itself. */
export type BranchListEvent =
  /** A read ended. `why`: it failed. */
  | {
      readonly kind: 'branch_list_read';
      readonly outcome: 'read' | BranchListFailure;
      readonly why: string | undefined;
      readonly branches: number;
      readonly durationMs: number;
    }
  /** The first of several failed reads. `ageMs`: of the list that stays in use. Undefined: there is none. */
  | {
      readonly kind: 'branch_list_failed';
      readonly failure: BranchListFailure;
      readonly why: string;
      readonly branches: number;
      readonly ageMs: number | undefined;
    }
  | { readonly kind: 'branch_list_recovered'; readonly branches: number; readonly failedForMs: number }
  /** A branch has the name of a pool, which wins. Once for each branch. */
  | { readonly kind: 'branch_shadowed'; readonly branch: BranchIdentity; readonly pool: PoolName };

/** Sessions with a branch as their target count under this name. Reserved where branches are configured. */
export const BRANCHES_POOL = 'branches';

/** The need of a session on the listener: an exclusive pool writes, any other pool reads. */
export type BranchAccess = 'write' | 'read';

/** Where a branch is served. */
export interface BranchBackend {
  /** A name is resolved at each connect. It is the server name (SNI) as well. */
  readonly address: Address;
  /** The setting that gave the address. */
  readonly rule: 'override' | 'read_override' | 'template' | 'read_template' | 'static';
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

/** The operator's decisions about branches. config/ parses them and owns the defaults. */
export interface BranchesPolicy {
  readonly source: BranchSourcePolicy;
  /** Between two polls of the list, with jitter. */
  readonly refreshMs: number;
  /** Patterns of names, `*` for any run of characters. Undefined: every branch that has a parent. */
  readonly allow: readonly string[] | undefined;
  readonly backends: BranchBackendsPolicy;
  readonly connect: BranchConnectPolicy;
  /** The reserved pool under whose name their sessions are counted. */
  readonly pool: PoolPolicy;
}

export type BranchSourcePolicy =
  | ({ readonly kind: 'console' } & ConsolePolicy)
  | ({ readonly kind: 'storage' } & StoragePolicy)
  /** Each name with its address; the name is the id as well. */
  | { readonly kind: 'static'; readonly branches: ReadonlyMap<string, Address> };

export interface ConsolePolicy {
  /** Without a trailing slash and without `/api/v2`. */
  readonly url: string;
  readonly project: string;
  /** Read at each request. */
  readonly apiKeyFile: string;
}

export interface StoragePolicy {
  /** Without a trailing slash and without `/v1`. */
  readonly url: string;
  readonly tenant: string;
  /** The names of timelines. Undefined: their ids are their names. */
  readonly namesFile: string | undefined;
  /** The major version of the database, for timelines that are created. */
  readonly pgVersion: number | undefined;
  /** Headers of each request, such as one of authentication. Read at each request. */
  readonly headersFile: string | undefined;
}

export interface BranchBackendsPolicy {
  /** Host and port, with `{id}`, `{name}` or `{slug}` in the host. */
  readonly template: Address | undefined;
  /** Likewise, for a read listener and a branch with a read endpoint. */
  readonly readTemplate: Address | undefined;
  /** By the id of the branch, or by its name. */
  readonly overrides: ReadonlyMap<string, Address>;
  /** Likewise, for a read listener. */
  readonly readOverrides: ReadonlyMap<string, Address>;
  readonly tls: BranchTls;
  /** A PEM file of authorities, read at each connect. Undefined: those of the system. */
  readonly caFile: string | undefined;
}

export const BRANCH_PLACEHOLDERS = ['id', 'name', 'slug'] as const;
