// The input of a router: the parsed request, and the manager's operations.
import type { Operations } from '../manager/operation-outcomes.ts';
import type { Dialect } from './dialect.ts';
import type { About } from './node-document.ts';

export interface ApiRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly parameters: URLSearchParams;
  /** Rejects with BodyTooLarge. */
  readonly readBody: () => Promise<string>;
}

export interface Routing {
  readonly operations: Operations;
  readonly dialect: Dialect;
  readonly about: About;
}
