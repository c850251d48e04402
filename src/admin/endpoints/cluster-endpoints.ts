// The cluster as its management API reports it, and the operations on it. One operation runs at a time.
import { z } from 'zod';
import type { ClusterControl, ClusterOperation, ControlReading } from '../../cluster/control.ts';
import { memoized } from '../../model/once.ts';
import type { OperationResult } from '../../documents/cluster-documents.ts';
import { failure, json, type Answer } from '../answer.ts';
import { get, post, type Endpoint } from '../endpoint.ts';
import { oneAtATime } from '../one-at-a-time.ts';

export interface ClusterEndpointOptions {
  /** Loaded on first use. */
  readonly cluster: () => Promise<ClusterControl>;
}

/** A dynamic configuration may be large: pg_hba has many lines. */
const MOST_CONFIG_BYTES = 64 * 1024;
const READ_MS = 30_000;
/** A management API answers a switchover or a restart when it is done. */
const OPERATION_MS = 15 * 60_000;

/** By the operation's name in its path. */
const bodySchemas = memoized(() => {
  const member = z.string().min(1);
  const configuration = z.record(z.string(), z.unknown());
  const at = z.string().exactOptional().describe('ISO 8601 with offset. Absent: now.');
  const noFields = z.strictObject({});
  const oneMember = z.strictObject({ member });
  return {
    switchover: z.strictObject({ leader: member, candidate: member.exactOptional(), scheduled_at: at }),
    'cancel-switchover': noFields,
    failover: z.strictObject({ candidate: member, leader: member.exactOptional() }),
    restart: z.strictObject({
      member,
      restart_pending: z.literal(true).exactOptional().describe('Only if a restart is pending.'),
      role: z.enum(['primary', 'replica']).exactOptional().describe('Only if the member has this role.'),
      postgres_version: z.string().exactOptional().describe('Only below this version: 15.4'),
      timeout: z.union([z.number(), z.string()]).exactOptional().describe('Seconds, or as PostgreSQL writes it: 30s'),
      schedule: at,
      order: z
        .enum(['primary_first', 'standbys_first'])
        .exactOptional()
        .describe('Which members come first, where no member reports the values of a changed parameter.'),
      any_order: z.literal(true).exactOptional().describe('Restart even if the order of the members matters.'),
    }),
    'cancel-restart': oneMember,
    reload: oneMember,
    reinitialize: z.strictObject({
      member,
      force: z.literal(true).exactOptional(),
      from_leader: z.literal(true).exactOptional(),
    }),
    'patch-config': z.strictObject({ changes: configuration.describe('A null removes a key.') }),
    'replace-config': z.strictObject({ config: configuration }),
    pause: noFields,
    resume: noFields,
  };
});
type BodySchemas = ReturnType<typeof bodySchemas>;
const querySchema = memoized(() =>
  z.strictObject({
    dry_run: z.enum(['true', 'false']).default('false').describe('true: answers with the request that would be sent.'),
  }),
);

export function cluster({ cluster: control }: ClusterEndpointOptions): readonly Endpoint[] {
  return [...documents(control), ...operations(control)];
}

function documents(control: ClusterEndpointOptions['cluster']): readonly Endpoint[] {
  const report = oneAtATime(async () => await (await control()).report());
  const history = oneAtATime(async () => await (await control()).history());
  const config = oneAtATime(async () => await (await control()).config());
  const answerMs = READ_MS;
  return [
    get({ path: '/cluster', answerMs, answer: async () => documentOf(await report(), (value) => value) }),
    get({
      path: '/cluster/history',
      answerMs,
      answer: async () => documentOf(await history(), (value) => ({ history: value })),
    }),
    get({
      path: '/cluster/config',
      answerMs,
      answer: async () => documentOf(await config(), (value) => ({ config: value })),
    }),
  ];
}

function operations(control: ClusterEndpointOptions['cluster']): readonly Endpoint[] {
  const row = <Name extends keyof BodySchemas>(
    name: Name,
    operationOf: (body: z.output<BodySchemas[Name]>) => ClusterOperation,
    mostBodyBytes?: number,
  ): Endpoint =>
    post({
      path: `/cluster/${name}`,
      query: querySchema,
      body: () => bodySchemas()[name],
      answerMs: OPERATION_MS,
      ...(mostBodyBytes === undefined ? {} : { mostBodyBytes }),
      isExclusive: (query) => query.dry_run === 'false',
      answer: async (call) => {
        const operation = operationOf(call.body);
        const by = await control();
        if (call.query.dry_run === 'false') return resultOf(await by.perform(operation));
        return documentOf(await by.plan(operation), (planned) => ({ planned }));
      },
    });
  return [
    row('switchover', (body) => ({ kind: 'switchover', ...body })),
    row('cancel-switchover', () => ({ kind: 'cancel_switchover' })),
    row('failover', (body) => ({ kind: 'failover', ...body })),
    row('restart', (body) => ({ kind: 'restart', ...body })),
    row('cancel-restart', (body) => ({ kind: 'cancel_restart', ...body })),
    row('reload', (body) => ({ kind: 'reload', ...body })),
    row('reinitialize', (body) => ({ kind: 'reinitialize', ...body })),
    row('patch-config', (body) => ({ kind: 'patch_config', ...body }), MOST_CONFIG_BYTES),
    row('replace-config', (body) => ({ kind: 'replace_config', ...body }), MOST_CONFIG_BYTES),
    row('pause', () => ({ kind: 'pause' })),
    row('resume', () => ({ kind: 'resume' })),
  ];
}

function documentOf<T>(reading: ControlReading<T>, document: (value: T) => object): Answer {
  return reading.kind === 'read' ? json(200, document(reading.value)) : failure(503, reading.why);
}

/**
 * The management API's refusal of our credentials is a 502: a 401 would be about the token of this API. `error` repeats
 * the text for clients that know no more than that.
 */
const STATUSES: Readonly<Record<OperationResult['kind'], number>> = {
  done: 200,
  scheduled: 202,
  invalid: 400,
  precondition: 412,
  failed: 503,
  unauthorized: 502,
  unexpected: 502,
  no_answer: 504,
  refused: 409,
};

function resultOf(result: OperationResult): Answer {
  const status = STATUSES[result.kind];
  return json(status, status < 300 ? result : { error: result.text, ...result });
}
