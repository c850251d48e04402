// Records of the fake platform: the fields of the contract, and around them the quirks.
import type { PlatformQuirks } from './quirks.ts';

export interface FakeVersion {
  /** Its name in the general dialect. */
  readonly id: string;
  /** Its name in the beta dialect. */
  readonly epoch: string;
}

export interface FakeSkill {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly versions: readonly FakeVersion[];
}

export type Dialect = 'general' | 'beta';

export function skillRecord(
  { id, name, source, versions }: FakeSkill,
  dialect: Dialect,
  quirks: PlatformQuirks,
): object {
  const latest = versions.at(-1);
  return {
    ...extras(quirks),
    ...idFields('skill_id', id, quirks),
    name,
    ...(latest === undefined ? {} : { latest_version_id: nameOf(latest, dialect) }),
    source: { type: source, ...(quirks.hasExtraFields ? { plugin: null } : {}) },
  };
}

export function versionRecord(version: FakeVersion, dialect: Dialect, quirks: PlatformQuirks): object {
  return { ...extras(quirks), id: 'obj_of_a_version', version: nameOf(version, dialect) };
}

export function fileRecord(id: string, quirks: PlatformQuirks): object {
  return { ...extras(quirks), ...idFields('file_id', id, quirks) };
}

export function nameOf({ id, epoch }: FakeVersion, dialect: Dialect): string {
  return dialect === 'beta' ? epoch : id;
}

export function inEnvelope(name: string, record: object, quirks: PlatformQuirks): unknown {
  const { envelope } = quirks;
  if (envelope === 'none') return record;
  return { ...extras(quirks), [envelope === 'data' ? 'data' : name]: record };
}

export function inList(name: string, records: readonly object[], quirks: PlatformQuirks): unknown {
  const { listAt } = quirks;
  if (listAt === 'bare') return records;
  const pages = quirks.hasPageFields ? { has_more: false, next_page: null } : {};
  return { ...extras(quirks), ...pages, [listAt === 'named' ? name : listAt]: records };
}

function idFields(name: string, id: string, { idAt }: PlatformQuirks): object {
  if (idAt === 'id') return { id };
  if (idAt === 'named') return { [name]: id };
  return { id: idAt === 'both' ? id : 'obj_of_another_kind', [name]: id };
}

/** Fields that the contract does not name, with values of every kind. */
function extras({ hasExtraFields, random }: PlatformQuirks): Record<string, unknown> {
  if (!hasExtraFields) return {};
  const all: readonly (readonly [string, unknown])[] = [
    ['type', 'record'],
    ['created_at', '2026-11-22T10:00:00Z'],
    ['display_title', 'A title\u0007with a bell'],
    ['metadata', { id: 'file_or_skill', list: 'none' }],
    ['Skill_ID', 7],
    ['size_bytes', 12],
    ['downloadable', false],
    ['expires', null],
  ];
  return Object.fromEntries(all.filter(() => random() < 0.6));
}
