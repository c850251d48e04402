// Reads the document in which a server tells the state of a session. Anything unexpected makes it unreadable: a state
// that is not understood is not carried.
import type { CarriedState, NamedSettings, PreparedStatement, UnclearNames } from '../../model/moves.ts';
import { bytesOf, byteText } from '../messages/byte-text.ts';
import { readWalReport } from './wal-report.ts';

const ENCODER = new TextEncoder();
const STRICT = new TextDecoder('utf-8', { fatal: true });

/** UTF-8 in base64, for SQL. */
export function asBase64(text: string): string {
  return btoa(byteText(ENCODER.encode(text)));
}

/**
 * The answers to a question, in base64. `limits`: the limits of time that the session has set, as `SHOW` wrote them,
 * where the documents do not have them. Undefined: not understood.
 */
export function readState(answers: readonly string[], limits: ReadonlyMap<string, string>): CarriedState | undefined {
  try {
    return stateOf(new DocumentFields(answers.map((answer): unknown => JSON.parse(decoded(answer)))), limits);
  } catch {
    return undefined;
  }
}

function decoded(answer: string): string {
  return STRICT.decode(bytesOf(atob(answer)));
}

function stateOf(fields: DocumentFields, limits: ReadonlyMap<string, string>): CarriedState {
  return {
    settings: new Map([...fields.texts('settings'), ...limits]),
    privilegedSettings: fields.list('privileged').map(asText),
    custom: fields.texts('custom'),
    namedSettings: namedOf(fields.value('named')),
    unclearNames: unclearOf(fields.list('unclear')),
    prepared: fields.list('prepared').map(statementOf),
    reading: fields.texts('reading'),
    role: asText(fields.value('role')),
    sessionUser: asText(fields.value('session_user')),
    identity: asText(fields.value('identity')),
    searchPath: asText(fields.value('search_path')),
    listening: fields.list('listening').map(asText),
    holdableCursors: fields.list('cursors').map(asText),
    advisoryLocks: asNumber(fields.value('advisory')),
    temporaryObjects: asNumber(fields.value('temporary')),
    temporarySlots: asNumber(fields.value('slots')),
    walWriterDelayMs: wholeNumber(asText(fields.value('wal_writer_delay'))),
    wal: readWalReport(fields.value('wal')),
  };
}

function wholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function namedOf(value: unknown): NamedSettings | undefined {
  if (value === null) return undefined;
  const fields = new DocumentFields([value]);
  const version = asText(fields.value('version'));
  return { version, names: fields.list('names').map(asText), unclear: fields.list('unclear').map(asText) };
}

function unclearOf([why, object]: readonly unknown[]): UnclearNames | undefined {
  if (why === undefined) return undefined;
  if (why !== 'computes' && why !== 'unread' && why !== 'names') throw new TypeError('unclear');
  return { why, object: asText(object) };
}

function statementOf(value: unknown): PreparedStatement {
  const [name, statement, parameterTypes, isFromSql] = asList(value);
  if (typeof isFromSql !== 'boolean') throw new TypeError('from_sql');
  return {
    name: asText(name),
    statement: asText(statement),
    parameterTypes: asList(parameterTypes).map(asNumber),
    // Its description follows.
    resultColumns: undefined,
    isFromSql,
  };
}

class DocumentFields {
  readonly #fields: ReadonlyMap<string, unknown>;

  constructor(documents: readonly unknown[]) {
    this.#fields = new Map(documents.flatMap((document) => [...entriesOf(document)]));
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
