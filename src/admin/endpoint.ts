// One row of the admin API: a path, its method, its input with a schema, and its handler. The path's parameters are the
// segments in capitals: /members/NAME/drain. zod schemas describe what comes in; what goes out is typed only. An idle
// Pointsman has to stay small: schemas of requests are made at the first one, those of answers (openapi/) are loaded
// on demand.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { memoized } from '../model/once.ts';
import type { Answer } from './answer.ts';
import type { LongAnswer } from './long-answer.ts';
import { problemsIn } from './problems.ts';
import type { StreamAnswer } from './streams.ts';

export type Reply = Answer | LongAnswer | StreamAnswer;

/**
 * `probe`: orchestrators and load balancers call it under any host name, and it reveals almost nothing.
 * `read`: needs no token. `private`: names users and clients, so it needs the token. `operation`: needs the token.
 */
export type Access = 'probe' | 'read' | 'private' | 'operation';

type PathParameter<Segment extends string> = Segment extends ''
  ? never
  : Segment extends Uppercase<Segment>
    ? Lowercase<Segment>
    : never;
type ParameterOf<Path extends string> = string extends Path
  ? string
  : Path extends `${infer Segment}/${infer Rest}`
    ? PathParameter<Segment> | ParameterOf<Rest>
    : PathParameter<Path>;

export interface Call<Path extends string = string, Query = unknown, Body = unknown> {
  /** Decoded, never empty. */
  readonly parameters: Readonly<Record<ParameterOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  /** The request has the token, also where none is needed. */
  readonly isOperator: boolean;
}

interface EndpointRow<Path extends string, Query extends z.ZodObject, Body extends z.ZodObject> {
  readonly path: Path;
  /** Default: no parameters. */
  readonly query?: () => Query;
  /** Default for POST: no fields. */
  readonly body?: () => Body;
  /** Default: 4 KiB. */
  readonly mostBodyBytes?: number;
  /** Time for the answer; the connection ends after it. Default: 10 s. */
  readonly answerMs?: number;
  /** It runs only while no other such operation runs. Default: it runs at any time. */
  readonly isExclusive?: (query: z.output<Query>) => boolean;
  readonly answer: (call: Call<Path, z.output<Query>, z.output<Body>>) => Reply | Promise<Reply>;
}

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Methods with the same answer, in the order of the header `allow`. */
  readonly methods: readonly string[];
  readonly path: string;
  readonly access: Access;
  readonly query: () => z.ZodObject;
  readonly body: () => z.ZodObject;
  readonly mostBodyBytes: number;
  readonly answerMs: number;
  /** `body`: parsed JSON. `invalid`: one sentence for each thing to correct. */
  readonly prepare: (
    call: Call<string, URLSearchParams>,
  ) =>
    | { readonly kind: 'ready'; readonly isExclusive: boolean; readonly run: () => Reply | Promise<Reply> }
    | { readonly kind: 'invalid'; readonly problems: readonly string[] };
}

const MOST_BODY_BYTES = 4 * 1024;
const ANSWER_MS = 10_000;
const noFields = memoized(() => z.strictObject({}));
/** Every query is ignored: programs that know nothing of Pointsman send their own. */
export const anyQuery = memoized(() => z.looseObject({}));

/** A document. Without `needsToken`, anyone who reaches the port may read it. HEAD comes with it. */
export function get<Path extends string, Query extends z.ZodObject = ReturnType<typeof noFields>>(
  row: Omit<EndpointRow<Path, Query, z.ZodObject>, 'body' | 'mostBodyBytes' | 'isExclusive'> & {
    readonly needsToken?: true;
  },
): Endpoint {
  return endpoint('GET', ['GET', 'HEAD'], row.needsToken === true ? 'private' : 'read', row);
}

/** For orchestrators and load balancers. OPTIONS answers as GET does, as Patroni's health checks do. */
export function probe<Path extends string>(
  row: Pick<EndpointRow<Path, z.ZodObject, z.ZodObject>, 'path' | 'answer'> & { readonly hasOptions?: boolean },
): Endpoint {
  const methods = row.hasOptions === true ? ['GET', 'HEAD', 'OPTIONS'] : ['GET', 'HEAD'];
  return endpoint('GET', methods, 'probe', { ...row, query: anyQuery });
}

/** Changes something: with the token and a JSON body. */
export function post<
  Path extends string,
  Query extends z.ZodObject = ReturnType<typeof noFields>,
  Body extends z.ZodObject = ReturnType<typeof noFields>,
>(row: EndpointRow<Path, Query, Body>): Endpoint {
  return endpoint('POST', ['POST'], 'operation', row);
}

function endpoint<Path extends string, Query extends z.ZodObject, Body extends z.ZodObject>(
  method: Endpoint['method'],
  methods: readonly string[],
  access: Access,
  row: EndpointRow<Path, Query, Body>,
): Endpoint {
  const { path, query = noFields, body = noFields, mostBodyBytes = MOST_BODY_BYTES, answerMs = ANSWER_MS } = row;
  return {
    method,
    methods,
    path,
    access,
    query,
    body,
    mostBodyBytes,
    answerMs,
    prepare(call) {
      const querySchema = query();
      const bodySchema = body();
      const asked = querySchema.safeParse(Object.fromEntries(call.query));
      const sent = bodySchema.safeParse(call.body);
      const problems = [
        ...(asked.success ? [] : problemsIn('query parameter', asked.error, querySchema)),
        ...repeated(call.query, Object.keys(querySchema.shape)),
        ...(sent.success ? [] : problemsIn('field', sent.error, bodySchema)),
      ];
      if (problems.length > 0) return { kind: 'invalid', problems };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schemas above have parsed the parts
      const parsed = { ...call, query: asked.data, body: sent.data } as Call<Path, z.output<Query>, z.output<Body>>;
      const isExclusive = row.isExclusive?.(parsed.query) ?? false;
      return { kind: 'ready', isExclusive, run: () => row.answer(parsed) };
    },
  };
}

function repeated(given: URLSearchParams, known: readonly string[]): readonly string[] {
  return known.filter((name) => given.getAll(name).length > 1).map((name) => `query parameter ${name} is given twice`);
}
