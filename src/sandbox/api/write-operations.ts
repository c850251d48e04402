// The write operations of the API: a body in, an operation of the manager done, a status code of the dialect out.
// Patroni's basic authentication is not offered. The listening address and the rule about browsers in respond.ts limit
// access.
import { z } from 'zod';
import type { ConfigOutcome, ManagerOutcome, ManagerOperations } from '../manager/operation-outcomes.ts';
import type { JsonObject } from '../manager/view.ts';
import { json, type ManagerAnswer } from './api-answer.ts';
import type { ApiDialect, OperationEnd } from './dialect.ts';
import { BadBody } from './request-body.ts';
import { parseChangeOfLeader, parseObject, parseReinitialize, parseRestart } from './requests.ts';
import type { RequestRouting } from './routing.ts';

type WriteOutcome = { readonly kind: OperationEnd; readonly text: string } | ManagerAnswer;
type WriteHandler = (
  operations: ManagerOperations,
  body: string,
  dialect: ApiDialect,
) => WriteOutcome | Promise<WriteOutcome>;

const WRITES: ReadonlyMap<string, WriteHandler> = new Map<string, WriteHandler>([
  ['PATCH /config', (operations, body, dialect) => changeConfig(body, dialect, (to) => operations.patchConfig(to))],
  ['PUT /config', (operations, body, dialect) => changeConfig(body, dialect, (to) => operations.putConfig(to))],
  ['POST /switchover', (operations, body, dialect) => changeLeader(operations, body, 'switchover', dialect)],
  ['DELETE /switchover', (operations) => operations.cancelSwitchover()],
  ['POST /failover', (operations, body, dialect) => changeLeader(operations, body, 'failover', dialect)],
  ['POST /restart', restart],
  ['DELETE /restart', (operations) => operations.cancelRestart()],
  ['POST /reload', async (operations) => as('reloaded', 'done', await operations.reload())],
  ['POST /reinitialize', reinitialize],
]);

export function isWrite(method: string, path: string): boolean {
  return WRITES.has(`${method} ${path}`);
}

/** The write methods that the path accepts. */
export function writeMethods(path: string): readonly string[] {
  return ['POST', 'PATCH', 'PUT', 'DELETE'].filter((method) => isWrite(method, path));
}

export async function write(
  method: string,
  path: string,
  body: string,
  { operations, dialect }: RequestRouting,
): Promise<ManagerAnswer> {
  const answer = (kind: OperationEnd, text: string): ManagerAnswer => {
    return { status: dialect.statusOf[kind], content: { type: dialect.textType, body: text } };
  };
  try {
    const outcome = await WRITES.get(`${method} ${path}`)?.(operations, body, dialect);
    if (outcome === undefined) throw new Error(`${method} ${path} is no operation`);
    return 'status' in outcome ? outcome : answer(outcome.kind, outcome.text);
  } catch (error) {
    if (error instanceof BadBody) return answer(error.kind, error.message);
    throw error;
  }
}

function changeConfig(
  body: string,
  { hasTypedConfig }: ApiDialect,
  change: (config: JsonObject) => ConfigOutcome,
): WriteOutcome {
  const config = parseObject(body, 'required');
  if (hasTypedConfig) checkTypes(config);
  const outcome = change(config);
  return outcome.kind === 'done' ? json(200, outcome.config) : outcome;
}

async function changeLeader(
  operations: ManagerOperations,
  body: string,
  action: 'switchover' | 'failover',
  { name }: ApiDialect,
): Promise<WriteOutcome> {
  const change = parseChangeOfLeader(body, action, name === 'patroni');
  return change.leader === undefined ? operations.failover(change.candidate) : operations.switchover(change);
}

async function restart(operations: ManagerOperations, body: string): Promise<WriteOutcome> {
  const { conditions, schedule } = parseRestart(body);
  if (schedule !== undefined) return operations.scheduleRestart(conditions, schedule);
  return as('restart_refused', 'refused', await operations.restart(conditions));
}

async function reinitialize(operations: ManagerOperations, body: string): Promise<WriteOutcome> {
  return as('reinitialize_refused', 'refused', await operations.reinitialize(parseReinitialize(body)));
}

/** The outcome by its more exact name. */
function as(name: OperationEnd, kind: ManagerOutcome['kind'], outcome: ManagerOutcome): WriteOutcome {
  return outcome.kind === kind ? { kind: name, text: outcome.text } : outcome;
}

const integer = z.int('must be an integer').nullish();

const typed = z.looseObject({
  ttl: integer,
  loop_wait: integer,
  retry_timeout: integer,
  maximum_lag_on_failover: integer,
  postgresql: z
    .looseObject(
      {
        use_pg_rewind: z.boolean('must be true or false').nullish(),
        parameters: z.record(z.string(), z.string('must be a string').nullable(), 'must be an object').nullish(),
      },
      'must be an object',
    )
    .nullish(),
});

function checkTypes(config: JsonObject): void {
  const issues = typed.safeParse(config).error?.issues;
  if (issues !== undefined)
    throw new BadBody(issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
}
