// Reads the document in which a server tells the state of a session. Anything unexpected makes it unreadable: a state
// that is not understood is not carried.
import type { CarriedState, PreparedStatement } from '../model/moves.ts';
import { readWalReport } from './wal-report.ts';

const ENCODER = new TextEncoder();
const STRICT = new TextDecoder('utf-8', { fatal: true });
const UNITS: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** UTF-8 in base64, for SQL. */
export function asBase64(text: string): string {
  return btoa(String.fromCharCode(...ENCODER.encode(text)));
}

/**
 * The answer to a question, in base64. `limits`: the limits of time as `SHOW` wrote them, which the document has only
 * as they are without the session's own SET. Undefined: not understood.
 */
export function readState(answer: string, limits: ReadonlyMap<string, string>): CarriedState | undefined {
  try {
    const bytes = Uint8Array.from(atob(answer), (character) => character.charCodeAt(0));
    return stateOf(new Fields(JSON.parse(STRICT.decode(bytes))), limits);
  } catch {
    return undefined;
  }
}

function stateOf(fields: Fields, limits: ReadonlyMap<string, string>): CarriedState {
  const resets = fields.texts('resets');
  const settings = fields.texts('settings');
  for (const [name, value] of limits) {
    const reset = resets.get(name);
    if (reset === undefined) throw new TypeError(name);
    if (durationOf(value) !== Number(reset)) settings.set(name, value);
  }
  return {
    settings,
    privilegedSettings: fields.list('privileged').map(asText),
    custom: fields.texts('custom'),
    namedSettings: fields.value('named') === null ? undefined : fields.list('named').map(asText),
    prepared: fields.list('prepared').map(statementOf),
    role: asText(fields.value('role')),
    sessionUser: asText(fields.value('session_user')),
    searchPath: asText(fields.value('search_path')),
    listening: fields.list('listening').map(asText),
    holdableCursors: fields.list('cursors').map(asText),
    advisoryLocks: asNumber(fields.value('advisory')),
    temporaryObjects: asNumber(fields.value('temporary')),
    temporarySlots: asNumber(fields.value('slots')),
    wal: readWalReport(fields.value('wal')),
  };
}

/** Milliseconds of a duration as `SHOW` writes it: `0`, `90s`, `1min`. NaN: not understood. */
function durationOf(shown: string): number {
  const [, digits, unit = ''] = /^(\d+)([a-z]*)$/.exec(shown) ?? [];
  return digits === undefined ? Number.NaN : Number(digits) * (UNITS[unit] ?? Number.NaN);
}

function statementOf(value: unknown): PreparedStatement {
  const [name, statement, parameterTypes, resultTypes, isFromSql] = asList(value);
  if (typeof isFromSql !== 'boolean') throw new TypeError('from_sql');
  return {
    name: asText(name),
    statement: asText(statement),
    parameterTypes: asList(parameterTypes).map(asNumber),
    resultTypes: resultTypes === null ? undefined : asList(resultTypes).map(asNumber),
    isFromSql,
  };
}

class Fields {
  readonly #fields: ReadonlyMap<string, unknown>;

  constructor(document: unknown) {
    this.#fields = entriesOf(document);
  }

  value(name: string): unknown {
    if (!this.#fields.has(name)) throw new TypeError(name);
    return this.#fields.get(name);
  }

  /** An aggregate of no rows is null. */
  list(name: string): readonly unknown[] {
    const value = this.value(name);
    return value === null ? [] : asList(value);
  }

  /** Without those that are null. */
  texts(name: string): Map<string, string> {
    const value = this.value(name);
    const texts = new Map<string, string>();
    if (value === null) return texts;
    for (const [key, text] of entriesOf(value)) if (text !== null) texts.set(key, asText(text));
    return texts;
  }
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('no object');
  return new Map<string, unknown>(Object.entries(value));
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('no list');
  return value;
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value;
}

/** Object ids are texts in JSON. */
function asNumber(value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw new TypeError('no number');
  return number;
}
