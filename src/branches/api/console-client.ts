// The console's API: lists and creates branches of a project. It has no deletion.
// Source: the console API, "Endpoints" and "Authentication".
import type { Branch, ConsolePolicy, EndpointType } from '../../model/branch.ts';
import { z } from 'zod';
import { entriesOf, optional, optionalLsn, required } from './fields.ts';
import { changeOnce, DEFAULT_TIMEOUT_MS, get, isSuccess, type ClientOptions } from './branch-api.ts';
import type { ApiServer } from '../../http/request.ts';
import { readApiKey } from '../../http/secret-files.ts';

export interface NewBranchRequest {
  readonly name: string;
  /** Undefined: the default branch. */
  readonly parentId?: string | undefined;
  /** The tables of the parent without their rows. */
  readonly isSchemaOnly?: boolean | undefined;
  /** Servers for it. None: it cannot be connected to yet. */
  readonly endpoints?: readonly EndpointType[] | undefined;
}

export type BranchCreation =
  /** Accepted. The body of the answer is not part of the contract: the list shows the branch. */
  | { readonly kind: 'accepted' }
  /**
   * `later`: the console says that it has not done it, or never got it. `unclear`: the branch may exist, now or soon:
   * only the list tells.
   */
  | { readonly kind: 'refused' | 'later' | 'unclear'; readonly why: string };

/** Every method rejects with an ApiError. */
export interface ConsoleClient {
  branches(): Promise<readonly Branch[]>;
  /** Sends the request once. Rejects when a setting prevents it. */
  createBranch(request: NewBranchRequest): Promise<BranchCreation>;
}

export function createConsoleClient(access: ConsolePolicy, options: ClientOptions = {}): ConsoleClient {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
  const server: ApiServer = {
    name: 'the console',
    url: access.url,
    timeoutMs,
    // The contract wants both headers in every request, also in those without a body.
    headers: async () => ({
      authorization: `Bearer ${await readApiKey(access.apiKeyFile)}`,
      'content-type': 'application/json',
    }),
  };
  const path = `/api/v2/projects/${encodeURIComponent(access.project)}/branches`;

  return {
    branches: async () => (await get(server, path, list, signal)).branches,
    createBranch: (wanted) => changeOnce(server, { method: 'POST', path, json: bodyOf(wanted) }, creationOf),
  };
}

const endpoint = z.object({ type: optional });

const branch = z
  .object({
    id: required,
    name: required,
    parent_id: optional,
    parent_lsn: optionalLsn,
    // Not a field of the contract. Some consoles list the servers of a branch here.
    endpoints: z.array(endpoint).optional().catch(undefined),
  })
  .transform((fields): Branch => ({
    id: fields.id,
    name: fields.name,
    parentId: fields.parent_id,
    parentLsn: fields.parent_lsn,
    hasReadEndpoint: fields.endpoints?.some(({ type }) => type === 'read_only'),
  }));

const list = z.object({ branches: entriesOf(branch) });

function bodyOf({ name, parentId, isSchemaOnly, endpoints = [] }: NewBranchRequest): object {
  return {
    branch: {
      name,
      ...(parentId === undefined ? {} : { parent_id: parentId }),
      ...(isSchemaOnly === true ? { init_source: 'schema-only' } : {}),
    },
    ...(endpoints.length === 0 ? {} : { endpoints: endpoints.map((type) => ({ type })) }),
  };
}

/** The contract shows no codes. By HTTP these say that the request was not taken: locked, too early, too many. */
const LATER: ReadonlySet<number> = new Set([423, 425, 429]);
/** These may follow on a branch that exists. */
const UNCLEAR: ReadonlySet<number> = new Set([408, 409]);

function creationOf(status: number | undefined, why: string, wasSent: boolean): BranchCreation {
  if (status === undefined) return { kind: wasSent ? 'unclear' : 'later', why };
  if (isSuccess(status)) return { kind: 'accepted' };
  if (LATER.has(status)) return { kind: 'later', why };
  return status >= 500 || UNCLEAR.has(status) ? { kind: 'unclear', why } : { kind: 'refused', why };
}
