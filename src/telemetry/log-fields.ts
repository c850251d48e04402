// The JSON fields of an event in the log, in snake_case. deploy/log-events.md lists them.
import { exclusionCause } from '../core/describe.ts';
import type { Route } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';
import type { Event } from './log-lines.ts';

type FieldValues = Readonly<Record<string, unknown>>;

export function logFields(event: Event): FieldValues {
  if (event.kind === 'route_changed') {
    const { pool, from, to } = event;
    return { pool, from: from?.kind, to: to.kind, ...routeFields(to) };
  }
  if (event.kind === 'standing_changed') {
    const { pool, member, from, to } = event;
    return { pool, member, from: from?.kind, to: to.kind, ...standingFields(to) };
  }
  if (event.kind === 'discovery_finished') {
    const { kind: _, members, ...fields } = event;
    return { ...snakeCase(fields), member_count: members };
  }
  if (event.kind === 'certificate_loaded' || event.kind === 'member_tls_verified') {
    const { kind: _, ...fields } = event;
    return snakeCase(mapValues(fields, (value) => (typeof value === 'number' ? new Date(value).toISOString() : value)));
  }
  const { kind, ...fields } = event;
  const said: readonly string[] = SENTENCES[kind] ?? [];
  return snakeCase(Object.fromEntries(Object.entries(fields).filter(([key]) => !said.includes(key))));
}

function routeFields(route: Route): FieldValues {
  if (route.kind === 'hold') return { cause: route.cause };
  if (route.kind === 'closed') return {};
  const { targets, fallback, lagging } = route;
  return {
    members: targets.map(({ member }) => member),
    ...(fallback === undefined ? {} : { fallback: fallback.pool }),
    ...(lagging === undefined ? {} : { lagging: true }),
  };
}

function standingFields(standing: Standing): FieldValues {
  const { code, detail } = standing.why;
  return { cause: exclusionCause(standing), reason: code, detail };
}

/** Properties that are sentences: `msg` has them. */
const SENTENCES: Partial<Record<Event['kind'], readonly string[]>> = {
  primary_refused: ['text'],
  outage_summary: ['text'],
  session_closed: ['detail'],
  session_stayed: ['detail'],
  config_reload_failed: ['problems'],
  member_tls_failed: ['why'],
};

function mapValues(fields: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value)]));
}

function snakeCase(fields: object): FieldValues {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [snakeKey(key), plain(value)]));
}

/** `durationMs` becomes `duration_ms`, `isMerged` becomes `merged`. */
function snakeKey(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/^is_/, '');
}

function plain(value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value * 1000) / 1000;
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'object' && value !== null ? snakeCase(value) : value;
}
