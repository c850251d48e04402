// The bodies of the write operations, checked as a whole before anything is done. The error text names the field. Pure.
import { z } from 'zod';
import type { SwitchoverRequest } from '../manager/operation-outcomes.ts';
import { isObject } from '../manager/cluster-settings.ts';
import { versionNumber } from '../manager/restart-conditions.ts';
import type { JsonObject, JsonValue, RestartGuards } from '../manager/view.ts';
import { parseSchedule, type ParsedSchedule, type Schedule } from './schedule.ts';

interface Bad {
  readonly kind: 'invalid' | 'bad_schedule';
  readonly text: string;
}

export type ParsedBody<T> = { readonly kind: 'valid'; readonly value: T } | Bad;

export type ChangeOfLeader =
  | { readonly kind: 'switchover'; readonly request: SwitchoverRequest }
  | { readonly kind: 'failover'; readonly request: { readonly candidate: string } };

export interface RestartRequest {
  readonly conditions: RestartGuards;
  readonly schedule: Schedule | undefined;
}

/** `optional`: a missing body means an empty object. */
export function parseObject(text: string, presence: 'required' | 'optional'): ParsedBody<JsonObject> {
  if (text.trim() === '') {
    return presence === 'optional' ? valid({}) : invalid('the body is empty: a JSON object is needed');
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return invalid(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return isObject(value) ? valid(value) : invalid(`the body is not a JSON object: ${shown(value)}`);
}

const word = z.string('must be a string').optional();
const changeOfLeader = z.strictObject({ leader: word, candidate: word, scheduled_at: word });

export interface BodyRules {
  readonly now: Date;
  /** As Patroni reads it: null is a field that is left out. The management API has texts. */
  readonly takesNull: boolean;
}

export function parseSwitchover(text: string, reading: BodyRules): ParsedBody<ChangeOfLeader> {
  return parseChangeOfLeader(text, 'switchover', reading);
}

/** A request with a leader is a switchover (management API). */
export function parseFailover(text: string, reading: BodyRules): ParsedBody<ChangeOfLeader> {
  return parseChangeOfLeader(text, 'failover', reading);
}

function parseChangeOfLeader(
  text: string,
  action: 'switchover' | 'failover',
  { now, takesNull }: BodyRules,
): ParsedBody<ChangeOfLeader> {
  const fields = parseFields(text, 'required', takesNull ? z.preprocess(withoutNull, changeOfLeader) : changeOfLeader);
  if (fields.kind !== 'valid') return fields;
  const { scheduled_at: scheduledAt } = fields.value;
  const [leader, candidate] = [fields.value.leader || undefined, fields.value.candidate || undefined];
  if (action === 'failover' && candidate === undefined) {
    return invalid('candidate is required: Failover could be performed only to a specific candidate');
  }
  if (leader === undefined) {
    if (action === 'switchover' || candidate === undefined) {
      return invalid('leader is required: Switchover could be performed only from a specific leader');
    }
    if (scheduledAt !== undefined) return invalid("Failover can't be scheduled");
    return valid({ kind: 'failover', request: { candidate } });
  }
  const schedule = parseOptionalSchedule(scheduledAt, 'switchover', now);
  if (schedule.kind !== 'valid') return schedule;
  return valid({ kind: 'switchover', request: { leader, candidate, scheduledAt: schedule.value } });
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
  restart_pending: z.boolean('must be true or false').optional(),
  role: role.optional(),
  postgres_version: z
    .string('must be a string')
    .refine((version) => versionNumber(version) !== undefined, 'must be a PostgreSQL version such as 18.4')
    .optional(),
  timeout: z.number('must be a number').positive('must be more than 0').optional(),
  schedule: word,
});

export function parseRestart(text: string, now: Date): ParsedBody<RestartRequest> {
  const fields = parseFields(text, 'optional', restart);
  if (fields.kind !== 'valid') return fields;
  const { role: wantedRole, restart_pending: isPendingOnly, postgres_version: postgresVersion, timeout } = fields.value;
  const schedule = parseOptionalSchedule(fields.value.schedule, 'restart', now);
  if (schedule.kind !== 'valid') return schedule;
  const conditions = {
    ...(wantedRole === undefined ? {} : { role: wantedRole }),
    ...(postgresVersion === undefined ? {} : { postgresVersion }),
    ...(isPendingOnly === undefined ? {} : { isPendingOnly }),
    ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
  };
  return valid({ conditions, schedule: schedule.value });
}

/** The management API and Patroni's documentation write `from-leader`; Patroni's code reads `from_leader`. */
const reinitialize = z.strictObject({
  force: z.boolean('must be true or false').optional(),
  'from-leader': z.boolean('must be true or false').optional(),
  from_leader: z.boolean('must be true or false').optional(),
});

export function parseReinitialize(text: string): ParsedBody<{ readonly force: boolean; readonly fromLeader: boolean }> {
  const fields = parseFields(text, 'optional', reinitialize);
  if (fields.kind !== 'valid') return fields;
  const { force = false, 'from-leader': fromLeader, from_leader: alias = false } = fields.value;
  return valid({ force, fromLeader: fromLeader ?? alias });
}

function parseOptionalSchedule(
  given: string | undefined,
  action: 'switchover' | 'restart',
  now: Date,
): ParsedBody<Schedule | undefined> {
  if (given === undefined) return valid(undefined);
  const parsed: ParsedSchedule = parseSchedule(given, action, now);
  return parsed.kind === 'schedule' ? valid(parsed.schedule) : parsed;
}

function parseFields<T extends z.ZodType>(
  text: string,
  presence: 'required' | 'optional',
  schema: T,
): ParsedBody<z.infer<T>> {
  const object = parseObject(text, presence);
  if (object.kind !== 'valid') return object;
  const parsed = schema.safeParse(object.value);
  if (parsed.success) return valid(parsed.data);
  return invalid(parsed.error.issues.map((issue) => reason(issue, object.value)).join('; '));
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

function valid<T>(value: T): ParsedBody<T> {
  return { kind: 'valid', value };
}

function invalid(text: string): Bad {
  return { kind: 'invalid', text };
}
