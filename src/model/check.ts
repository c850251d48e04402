// A check: a health endpoint of the management API with its parameters. Pointsman validates the parameters itself,
// because the API silently ignores those that it cannot parse.

/** Which members an endpoint is about. It decides which facts of the body tighten the answer. */
export type CheckFamily =
  | 'primary'
  | 'leader'
  | 'standby-leader'
  | 'replica'
  | 'read-only'
  | 'health'
  | 'liveness'
  | 'readiness';

export interface Check {
  /** Canonical path with query: it is sent, and it is the key of the answers. */
  readonly text: string;
  readonly path: string;
  readonly family: CheckFamily;
  /** The limit of `lag=`. Bytes. */
  readonly lagBytes: number | undefined;
  /** The state of its replication that a replica must report: `replication_state=`. */
  readonly replicationState: string | undefined;
  /** The `tag_<key>=<value>` filters. */
  readonly tags: ReadonlyMap<string, string>;
}

export type ParsedCheck =
  | { readonly kind: 'check'; readonly check: Check }
  | { readonly kind: 'invalid'; readonly message: string };

const FAMILIES: Readonly<Record<string, CheckFamily>> = {
  '/': 'primary',
  '/primary': 'primary',
  '/read-write': 'primary',
  '/leader': 'leader',
  '/standby-leader': 'standby-leader',
  '/replica': 'replica',
  '/synchronous': 'replica',
  '/sync': 'replica',
  '/asynchronous': 'replica',
  '/async': 'replica',
  '/quorum': 'replica',
  '/read-only': 'read-only',
  '/read-only-sync': 'read-only',
  '/read-only-quorum': 'read-only',
  '/health': 'health',
  '/liveness': 'liveness',
  '/readiness': 'readiness',
};

/** A 503 of these endpoints says this of a member that runs. */
const FAILURES: Readonly<Record<string, string>> = {
  '/leader': 'not_leader',
  '/standby-leader': 'not_standby_leader',
  '/synchronous': 'not_synchronous',
  '/sync': 'not_synchronous',
  '/read-only-sync': 'not_synchronous',
  '/asynchronous': 'not_asynchronous',
  '/async': 'not_asynchronous',
  '/quorum': 'not_in_quorum',
  '/read-only-quorum': 'not_in_quorum',
  '/liveness': 'not_alive',
  '/readiness': 'not_ready',
};

/** `not_synchronous`: why a member that runs fails this check, given as `Check.text`. Default: `check_failed`. */
export function failureOf(check: string): string {
  return FAILURES[check.replace(/\?.*/s, '')] ?? 'check_failed';
}

export const ENDPOINTS: readonly string[] = Object.keys(FAMILIES);

/** The endpoints for which the management API promises a lag limit. */
const TAKES_LAG = ['/replica', '/asynchronous', '/async', '/readiness'];
/** A primary has no such state, so `/read-only` takes it in spite of this. */
const TAKES_REPLICATION_STATE: readonly CheckFamily[] = ['replica', 'read-only'];
const REPLICATION_STATES: readonly string[] = ['streaming', 'in archive recovery'];
const IGNORES_TAGS: readonly CheckFamily[] = ['primary', 'leader', 'standby-leader', 'liveness', 'readiness'];
const UNITS: Readonly<Record<string, number>> = { B: 1, kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** Parses `16MB` or plain bytes as the API does: units are case-sensitive powers of 1024. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(text);
  const unit = match?.[2] === '' ? 1 : UNITS[match?.[2] ?? ''];
  if (match === null || unit === undefined) return undefined;
  const bytes = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Rounded, in the units of parseSize: `16 MB`, `1.5 GB`, `300 B`. */
export function sizeText(bytes: number): string {
  const [unit, factor] = Object.entries(UNITS).findLast(([, size]) => bytes >= size) ?? ['B', 1];
  return `${Number((bytes / factor).toFixed(1))} ${unit}`;
}

function invalid(message: string): ParsedCheck {
  return { kind: 'invalid', message };
}

/** `16mb`, `16M` and `16MiB` are near to `16MB`. */
function sizeHint(value: string): string {
  const units = Object.keys(UNITS);
  const [, digits, letter = ''] = /^(\d+(?:\.\d+)?)([bkmgt])(?:i?b)?$/i.exec(value) ?? [];
  const unit = units.find((name) => name.toLowerCase().startsWith(letter.toLowerCase()));
  if (digits === undefined || unit === undefined) {
    return `use bytes, or a number with a unit (${units.join(', ')}; case matters), such as lag=16MB`;
  }
  return `did you mean lag=${digits}${unit}? Case matters (${units.join(', ')})`;
}

function parameterFault(path: string, family: CheckFamily, key: string, value: string): string | undefined {
  if (key === 'lag') {
    if (!TAKES_LAG.includes(path)) return `${path} does not take lag: only ${TAKES_LAG.join(', ')} do`;
    return parseSize(value) === undefined ? `lag=${value} is not a size: ${sizeHint(value)}` : undefined;
  }
  if (key === 'mode') {
    if (path !== '/readiness') return `${path} does not take mode: only /readiness does`;
    return value === 'apply' || value === 'write' ? undefined : `mode=${value} is not apply or write`;
  }
  if (key === 'replication_state') {
    if (!TAKES_REPLICATION_STATE.includes(family)) {
      return `${path} does not take replication_state: only the endpoints for replicas do, such as /replica`;
    }
    const states = REPLICATION_STATES.join(' or ');
    return REPLICATION_STATES.includes(value) ? undefined : `replication_state=${value} is not ${states}`;
  }
  if (/^tag_./.test(key)) {
    if (!IGNORES_TAGS.includes(family)) return undefined;
    const hint = 'use the /replica or /read-only family, or remove the filter';
    return `${path} ignores tag filters, so ${key}=${value} would have no effect: ${hint}`;
  }
  return `${path} has no parameter ${key}: known are lag, mode, replication_state and tag_<name>`;
}

/** Parses a check as an operator writes it: `/replica?lag=16MB&tag_zone=eu-1`. */
export function parseCheck(text: string): ParsedCheck {
  const [path = '', query = ''] = text.split(/\?(.*)/s);
  const family = FAMILIES[path];
  if (family === undefined || !Object.hasOwn(FAMILIES, path)) {
    return invalid(`${path || '(empty)'} is not a health endpoint: known are ${ENDPOINTS.join(', ')}`);
  }
  const tags = new Map<string, string>();
  const parts: string[] = [];
  const seen = new Set<string>();
  let lagBytes: number | undefined;
  let replicationState: string | undefined;
  for (const part of query === '' ? [] : query.split('&')) {
    const [key = '', ...rest] = part.split('=');
    const value = decode(rest.join('='));
    if (value === undefined || value === '') return invalid(`${part}: a parameter is written name=value`);
    if (seen.has(key)) return invalid(`${key} is given twice: the API would use only the first`);
    seen.add(key);
    const fault = parameterFault(path, family, key, value);
    if (fault !== undefined) return invalid(fault);
    if (key === 'lag') lagBytes = parseSize(value);
    else if (key === 'replication_state') replicationState = value;
    else if (key !== 'mode') tags.set(key.slice('tag_'.length), value);
    parts.push(`${key}=${encodeURIComponent(value)}`);
  }
  const canonical = parts.length === 0 ? path : `${path}?${parts.join('&')}`;
  return { kind: 'check', check: { text: canonical, path, family, lagBytes, replicationState, tags } };
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
