// Readers of the platform's documents. The interface names a few fields and leaves the rest open: other fields are
// ignored, and an optional field of another type counts as absent.
import { isRecord } from '../../model/json.ts';
import { ApiError } from '../../http/request.ts';
import { shown } from '../../model/printable.ts';

export interface StoredSkill {
  readonly id: string;
  /** The slug. It never changes. */
  readonly name: string | undefined;
  readonly latestVersionId: string | undefined;
  /** `custom`: of this workspace. Every other one is published by the vendor or a plugin. */
  readonly sourceType: string | undefined;
}

export interface StoredVersion {
  /** Its name in paths: in the beta dialect a Unix epoch. */
  readonly version: string;
}

export interface ListPage<T> {
  readonly entries: readonly T[];
  /** False: the platform has more than it listed, or an entry could not be read. */
  readonly isComplete: boolean;
}

type RecordFields = Readonly<Record<string, unknown>>;

/** Vendor and plugin skills are shared: nobody changes them here. An unknown source is not refused. */
export function isReadOnly({ sourceType }: StoredSkill): boolean {
  return sourceType !== undefined && sourceType !== 'custom';
}

export function readSkill(document: unknown): StoredSkill | undefined {
  return firstOf(document, ['skill'], (fields) => {
    const id = idOf(fields, 'skill_id', 'skill_');
    if (id === undefined) return undefined;
    const source = isRecord(fields['source']) ? fields['source'] : {};
    return {
      id,
      name: text(fields['name']),
      latestVersionId: word(fields['latest_version_id']),
      sourceType: text(source['type']),
    };
  });
}

export function readVersion(document: unknown): StoredVersion | undefined {
  return firstOf(document, ['version', 'skill_version'], (fields) => {
    const { version } = fields;
    const name = word(typeof version === 'number' ? String(version) : version);
    return name === undefined ? undefined : { version: name };
  });
}

export function readFileId(document: unknown): string | undefined {
  return firstOf(document, ['file'], (fields) => idOf(fields, 'file_id', 'file_'));
}

/** An array, alone or as a field of an object. Undefined: there is none. */
export function readList<T>(document: unknown, read: (entry: unknown) => T | undefined): ListPage<T> | undefined {
  const fields = isRecord(document) ? document : {};
  const named = ['data', 'skills', 'versions'].map((name) => fields[name]);
  const list = [document, ...named, ...Object.values(fields)].find((value) => Array.isArray(value));
  if (list === undefined) return undefined;
  const entries = list.map(read).filter((entry) => entry !== undefined);
  const next = fields['next_page'] ?? null;
  return { entries, isComplete: entries.length === list.length && fields['has_more'] !== true && next === null };
}

/** The record itself, or an object of one of these names around it. */
function firstOf<T>(
  document: unknown,
  names: readonly string[],
  read: (fields: RecordFields) => T | undefined,
): T | undefined {
  if (!isRecord(document)) return undefined;
  const candidates = [document, ...[...names, 'data'].map((name) => document[name]).filter(isRecord)];
  return candidates.map(read).find((value) => value !== undefined);
}

/** `skill_id` or `id`, whichever has the prefix of the interface. */
function idOf(fields: RecordFields, name: string, prefix: string): string | undefined {
  return [fields[name], fields['id']].map(word).find((id) => id?.startsWith(prefix));
}

/** An identifier: printable, without spaces. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,256}$/.test(value) ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? shown(value) : undefined;
}

/** `value`, or an error: the platform answered with success, and with another document. */
export function expected<T>(value: T | undefined, what: string): T {
  if (value !== undefined) return value;
  throw new ApiError('invalid_answer', `the platform answered with success, but ${what}`, undefined, true);
}
