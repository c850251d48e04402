// Whether a member needs a restart, and whether one is scheduled. The node status and the cluster document have the
// same keys.
import { isRecord } from '../model/json.ts';
import { z } from 'zod';
import { shown } from '../model/printable.ts';
import { flag, line, maybe, present } from './fields.ts';

/** The value in the running server, and the one that a restart would bring. Null: not reported. */
export interface ParameterChange {
  readonly old_value: string | null;
  readonly new_value: string | null;
}

export interface RestartState {
  readonly isPending: boolean;
  /** By parameter, as Patroni 3.3 and later report it. */
  readonly reason?: Readonly<Record<string, ParameterChange>>;
  /** ISO 8601. */
  readonly scheduledAt?: string;
}

/** PostgreSQL has about sixty parameters that need a restart. */
const MAX_PARAMETERS = 200;

const restartState = z.object({
  pending_restart: flag,
  pending_restart_reason: maybe(z.record(z.string(), z.unknown())),
  scheduled_restart: maybe(z.object({ schedule: line })),
});

const NOTHING: RestartState = { isPending: false };

/** Reads the keys of an entry or document. Whatever is unreadable counts as absent. */
export function readRestartState(json: unknown): RestartState {
  const parsed = restartState.safeParse(json);
  if (!parsed.success) return NOTHING;
  const {
    pending_restart: isPending = false,
    pending_restart_reason: reason,
    scheduled_restart: scheduled,
  } = parsed.data;
  return {
    isPending,
    ...present({ reason: reason && changesOf(reason), scheduledAt: scheduled?.schedule }),
  };
}

function changesOf(reason: Readonly<Record<string, unknown>>): RestartState['reason'] {
  const entries = Object.entries(reason)
    .slice(0, MAX_PARAMETERS)
    .map(([name, change]) => [shown(name), changeOf(change)] as const);
  return Object.fromEntries(entries);
}

function changeOf(change: unknown): ParameterChange {
  const fields = isRecord(change) ? change : {};
  return { old_value: valueOf(fields['old_value']), new_value: valueOf(fields['new_value']) };
}

function valueOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? shown(String(value))
    : null;
}
