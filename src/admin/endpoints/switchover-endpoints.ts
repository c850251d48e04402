// The switchover that holds clients: its plan, its start, and the operations that run or ran.
import { z } from 'zod';
import type { CancelResult, LongOperations, OperationStart } from '../../cluster/long-operations.ts';
import type { HeldSwitchoverRequest } from '../../cluster/switchover/plan.ts';
import { memoized } from '../../model/once.ts';
import { failure, json, type Answer } from '../answer.ts';
import { get, post, type Endpoint } from '../endpoint.ts';

export interface SwitchoversOptions {
  readonly switchovers: Pick<LongOperations, 'plan' | 'list' | 'find'> & {
    readonly start: (request: HeldSwitchoverRequest) => Promise<OperationStart>;
    readonly cancel: (id: string) => CancelResult;
  };
}

const to = () => z.string().min(1).optional().describe('The next primary. Default: the cluster chooses.');
const TRANSACTION_MS = { default: 10_000, most: 3_600_000 };
const TRANSACTION = 'How long running transactions may take before they are cut. Milliseconds.';

const transaction = (ms: z.ZodNumber | z.ZodCoercedNumber) =>
  ms.int().min(0).max(TRANSACTION_MS.most).default(TRANSACTION_MS.default).describe(TRANSACTION);

const FLEET = 'The cluster schedules it, so that each Pointsman takes part. Default: the setting fleet.';

const querySchema = memoized(() =>
  z.strictObject({
    to: to(),
    transaction_timeout_ms: transaction(z.coerce.number()),
    fleet: z.enum(['true', 'false']).optional().describe(FLEET),
  }),
);
const bodySchema = memoized(() =>
  z.strictObject({
    to: to(),
    transaction_timeout_ms: transaction(z.number()),
    fleet: z.boolean().optional().describe(FLEET),
  }),
);

export function switchover({ switchovers }: SwitchoversOptions): readonly Endpoint[] {
  return [
    get({
      path: '/switchover',
      query: querySchema,
      answer: async ({ query }) =>
        json(200, await switchovers.plan(requested({ ...query, fleet: flagOf(query.fleet) }))),
    }),
    get({ path: '/operations', answer: () => json(200, { operations: switchovers.list() }) }),
    get({
      path: '/operations/ID',
      answer({ parameters }) {
        const operation = switchovers.find(parameters.id);
        return operation === undefined ? unknown(parameters.id) : json(200, operation);
      },
    }),
    post({
      path: '/switchover',
      body: bodySchema,
      answer: async ({ body }) => started(await switchovers.start(requested(body))),
    }),
    post({
      path: '/operations/ID/cancel',
      answer: ({ parameters }) => cancelled(parameters.id, switchovers.cancel(parameters.id)),
    }),
  ];
}

function flagOf(text: 'true' | 'false' | undefined): boolean | undefined {
  return text === undefined ? undefined : text === 'true';
}

function requested({
  to,
  transaction_timeout_ms,
  fleet,
}: z.output<ReturnType<typeof bodySchema>>): HeldSwitchoverRequest {
  return { to, transactionMs: transaction_timeout_ms, fleet };
}

function started(starting: OperationStart): Answer {
  if (starting.kind === 'started') return json(202, starting.operation);
  const { operation } = starting;
  if (operation === undefined) return failure(409, 'another operation runs: try again when it has ended');
  const error = `another operation runs: ${operation.kind} ${operation.id}, phase ${operation.phase}`;
  return json(409, { error, operation });
}

function cancelled(id: string, cancelling: CancelResult): Answer {
  switch (cancelling.kind) {
    case 'cancelled':
      return json(202, cancelling.operation);
    case 'ended':
      return json(409, { error: `operation ${id} has ended`, operation: cancelling.operation });
    case 'unknown':
      return unknown(id);
  }
}

function unknown(id: string): Answer {
  return failure(404, `unknown operation ${id}: GET /operations lists the last ones`);
}
