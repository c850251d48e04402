// The write operations of the API: a body in, an operation of the manager done, a status code of the dialect out.
// Patroni's basic authentication is not offered. The listening address and the rule about browsers in respond.ts limit
// access.
import type { ConfigOutcome, ManagerOutcome, ManagerOperations } from '../manager/operation-outcomes.ts';
import type { JsonObject } from '../manager/view.ts';
import { json, type ManagerAnswer } from './api-answer.ts';
import type { ApiDialect, OperationEnd } from './dialect.ts';
import { parseFailover, parseObject, parseReinitialize, parseRestart, parseSwitchover } from './requests.ts';
import type { ChangeOfLeader, ParsedBody, BodyRules } from './requests.ts';
import type { RequestRouting } from './routing.ts';
import { z } from 'zod';

type WriteOutcome = ManagerOutcome | { readonly kind: OperationEnd; readonly text: string } | ManagerAnswer;
type WriteHandler = (operations: ManagerOperations, body: string, dialect: ApiDialect) => Promise<WriteOutcome>;

const WRITES: ReadonlyMap<string, WriteHandler> = new Map<string, WriteHandler>([
  ['PATCH /config', (operations, body, dialect) => changeConfig(body, dialect, (to) => operations.patchConfig(to))],
  ['PUT /config', (operations, body, dialect) => changeConfig(body, dialect, (to) => operations.putConfig(to))],
  [
    'POST /switchover',
    (operations, body, dialect) => changeLeader(operations, parseSwitchover(body, readingOf(dialect))),
  ],
  ['DELETE /switchover', (operations) => operations.cancelSwitchover()],
  ['POST /failover', (operations, body, dialect) => changeLeader(operations, parseFailover(body, readingOf(dialect)))],
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
  const outcome = await WRITES.get(`${method} ${path}`)?.(operations, body, dialect);
  if (outcome === undefined) throw new Error(`${method} ${path} is no operation`);
  if ('status' in outcome) return outcome;
  return { status: dialect.statusOf[outcome.kind], content: { type: dialect.textType, body: outcome.text } };
}

async function changeConfig(
  body: string,
  { hasTypedConfig }: ApiDialect,
  change: (config: JsonObject) => Promise<ConfigOutcome>,
): Promise<WriteOutcome> {
  const parsed = parseObject(body, 'required');
  if (parsed.kind !== 'valid') return parsed;
  const why = hasTypedConfig ? whyWrongType(parsed.value) : undefined;
  if (why !== undefined) return { kind: 'invalid', text: why };
  const outcome = await change(parsed.value);
  return outcome.kind === 'done' ? json(200, outcome.config) : outcome;
}

function readingOf({ name }: ApiDialect): BodyRules {
  return { now: new Date(), takesNull: name === 'patroni' };
}

async function changeLeader(operations: ManagerOperations, parsed: ParsedBody<ChangeOfLeader>): Promise<WriteOutcome> {
  if (parsed.kind !== 'valid') return parsed;
  const { value } = parsed;
  return value.kind === 'switchover' ? operations.switchover(value.request) : operations.failover(value.request);
}

async function restart(operations: ManagerOperations, body: string): Promise<WriteOutcome> {
  const parsed = parseRestart(body, new Date());
  if (parsed.kind !== 'valid') return parsed;
  const { conditions, schedule } = parsed.value;
  if (schedule !== undefined) return operations.scheduleRestart(conditions, schedule);
  return as('restart_refused', 'refused', await operations.restart(conditions));
}

async function reinitialize(operations: ManagerOperations, body: string): Promise<WriteOutcome> {
  const parsed = parseReinitialize(body);
  if (parsed.kind !== 'valid') return parsed;
  return as('reinitialize_refused', 'refused', await operations.reinitialize(parsed.value));
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

/** The reason why a body of PATCH or PUT /config is refused; undefined when every type is right. */
function whyWrongType(config: JsonObject): string | undefined {
  const parsed = typed.safeParse(config);
  if (parsed.success) return undefined;
  return parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
}
