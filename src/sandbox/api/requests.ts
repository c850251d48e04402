// The bodies of the write operations, checked as a whole before anything is done. The error text names the field. Pure.
import { z } from 'zod';
import { messageOf } from '../http-server.ts';
import { isObject } from '../manager/cluster-settings.ts';
import type { ReinitializeOptions, SwitchoverRequest } from '../manager/operation-outcomes.ts';
import { versionNumber } from '../manager/restart-conditions.ts';
import type { JsonObject, JsonValue, RestartGuards } from '../manager/view.ts';
import { BadBody } from './request-body.ts';
import { scheduleText } from './schedule.ts';

/** Without a leader it is a failover. */
export type ChangeOfLeader = SwitchoverRequest | { readonly leader: undefined; readonly candidate: string };

export interface RestartRequest {
  readonly conditions: RestartGuards;
  readonly schedule: string | undefined;
}

/** `optional`: a missing body means an empty object. Throws BadBody, as all parsers here do. */
export function parseObject(text: string, presence: 'required' | 'optional'): JsonObject {
  if (text.trim() === '') {
    if (presence === 'optional') return {};
    throw new BadBody('the body is empty: a JSON object is needed');
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadBody(`the body is not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw new BadBody(`the body is not a JSON object: ${shown(value)}`);
  return value;
}

const word = z.string('must be a string').optional();
const truth = z.boolean('must be true or false').optional();
const changeOfLeader = z.strictObject({ leader: word, candidate: word, scheduled_at: word });

/**
 * `takesNull`: as Patroni reads it, null is a field that is left out. The management API has texts. A failover with a
 * leader is a switchover (management API).
 */
export function parseChangeOfLeader(
  text: string,
  action: 'switchover' | 'failover',
  takesNull: boolean,
  now = new Date(),
): ChangeOfLeader {
  const fields = parseFields(text, 'required', takesNull ? z.preprocess(withoutNull, changeOfLeader) : changeOfLeader);
  const leader = fields.leader || undefined;
  const candidate = fields.candidate || undefined;
  if (action === 'failover' && candidate === undefined) {
    throw new BadBody('candidate is required: Failover could be performed only to a specific candidate');
  }
  if (leader !== undefined) {
    return { leader, candidate, scheduledAt: scheduleText(fields.scheduled_at, 'switchover', now) };
  }
  if (action === 'switchover' || candidate === undefined) {
    throw new BadBody('leader is required: Switchover could be performed only from a specific leader');
  }
  if (fields.scheduled_at !== undefined) throw new BadBody("Failover can't be scheduled");
  return { leader, candidate };
}

/** For "any", patronictl sends null. */
function withoutNull(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

const ROLES: readonly string[] = ['primary', 'replica', 'standby_leader'];
const WHICH_ROLES = 'must be primary, replica or standby_leader';

/** The management API, "Versioning". */
const role = z.string('must be a string').check(({ value, issues }) => {
  if (ROLES.includes(value)) return;
  const why = value === 'master' ? `${WHICH_ROLES} (from version 4.0.0 on, primary is the word)` : WHICH_ROLES;
  issues.push({ code: 'custom', input: value, message: why });
});

const restart = z.strictObject({
  restart_pending: truth,
  role: role.optional(),
  postgres_version: z
    .string('must be a string')
    .refine((version) => versionNumber(version) !== undefined, 'must be a PostgreSQL version such as 18.4')
    .optional(),
  timeout: z.number('must be a number').positive('must be more than 0').optional(),
  schedule: word,
});

export function parseRestart(text: string, now = new Date()): RestartRequest {
  const { schedule, ...conditions } = parseFields(text, 'optional', restart);
  return { conditions, schedule: scheduleText(schedule, 'restart', now) };
}

/** The management API and Patroni's documentation write `from-leader`; Patroni's code reads `from_leader`. */
const reinitialize = z.strictObject({ force: truth, 'from-leader': truth, from_leader: truth });

export function parseReinitialize(text: string): ReinitializeOptions {
  const fields = parseFields(text, 'optional', reinitialize);
  const { force = false, 'from-leader': fromLeader, from_leader: alias = false } = fields;
  return { force, fromLeader: fromLeader ?? alias };
}

function parseFields<T extends z.ZodType>(text: string, presence: 'required' | 'optional', schema: T): z.infer<T> {
  const object = parseObject(text, presence);
  const parsed = schema.safeParse(object);
  if (parsed.success) return parsed.data;
  throw new BadBody(parsed.error.issues.map((issue) => reason(issue, object)).join('; '));
}

function reason(issue: z.core.$ZodIssue, given: JsonObject): string {
  if (issue.code === 'unrecognized_keys') return `unknown field: ${issue.keys.join(', ')}`;
  const field = String(issue.path[0] ?? 'the body');
  return `${field} ${issue.message}, not ${shown(given[field] ?? null)}`;
}

function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
