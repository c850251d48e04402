// The input of a router: the parsed request, and the manager's operations.
import type { ManagerOperations } from '../manager/operation-outcomes.ts';
import type { ApiDialect } from './dialect.ts';
import type { ManagerIdentity } from './node-document.ts';

export interface ManagerRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly parameters: URLSearchParams;
  /** Rejects with BodyTooLarge. */
  readonly readBody: () => Promise<string>;
}

export interface RequestRouting {
  readonly operations: ManagerOperations;
  readonly dialect: ApiDialect;
  readonly about: ManagerIdentity;
}
