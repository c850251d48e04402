// `pointsman skill list`, `show`, `versions` and `delete`: the skills that the platform has.
import { isReadOnly, type ListPage, type StoredSkill } from '../client/records.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { json } from '../../cli/json.ts';
import {
  asked,
  fail,
  openPlatform,
  type PlatformContext,
  type PlatformOptions,
  type PlatformParts,
} from '../platform-context.ts';
import { confirm } from '../../cli/terminal/confirm.ts';
import { tableText, widthFor } from '../../cli/terminal/terminal-table.ts';
import { openRecord, type RecordOptions } from './skill-record.ts';
import { idOf } from './skill-id.ts';

export interface StoredOptions extends PlatformOptions, RecordOptions {}

export interface DeleteSkillOptions extends StoredOptions {
  /** Undefined: the whole skill. */
  readonly version?: string | undefined;
  readonly yes?: boolean | undefined;
}

export async function listSkills(options: StoredOptions, io: CliIo, parts: PlatformParts): Promise<number> {
  const context = await openPlatform(options, io, parts);
  const listed = await asked(io, context.client.skills());
  const { entries } = listed;
  if (options.json === true) io.stdout(json({ skills: entries.map(documentOf), complete: listed.isComplete }));
  else if (entries.length === 0) io.stdout('no skills\n');
  else {
    const columns = [
      { title: 'ID' },
      { title: 'NAME' },
      { title: 'SOURCE' },
      { title: 'LATEST', optional: 1 },
    ] as const;
    const rows = entries.map(({ id, name, sourceType, latestVersionId }) => [
      id,
      name ?? '-',
      sourceType ?? '-',
      latestVersionId ?? '-',
    ]);
    io.stdout(tableText(columns, rows, widthFor(io)));
  }
  return complete(listed, io);
}

export async function showSkill(
  wanted: string,
  options: StoredOptions,
  io: CliIo,
  parts: PlatformParts,
): Promise<number> {
  const { context, id } = await openOne(wanted, options, io, parts);
  const found = await asked(io, context.client.skill(id));
  const document = documentOf(found);
  if (options.json === true) io.stdout(json(document));
  else
    io.stdout(
      Object.entries(document)
        .map(([key, value]) => `${key.padEnd(17)}  ${value ?? '-'}\n`)
        .join(''),
    );
  return EXIT.ok;
}

export async function listVersions(
  wanted: string,
  options: StoredOptions,
  io: CliIo,
  parts: PlatformParts,
): Promise<number> {
  const { context, id } = await openOne(wanted, options, io, parts);
  const listed = await asked(io, context.client.versions(id));
  const versions = listed.entries.map(({ version }) => version);
  if (options.json === true) io.stdout(json({ skill_id: id, versions, complete: listed.isComplete }));
  else io.stdout(versions.length === 0 ? 'no versions\n' : versions.map((version) => `${version}\n`).join(''));
  return complete(listed, io);
}

export async function deleteSkill(
  wanted: string,
  options: DeleteSkillOptions,
  io: CliIo,
  parts: PlatformParts,
): Promise<number> {
  const { context, id } = await openOne(wanted, options, io, parts);
  const found = await asked(io, context.client.skill(id));
  const { name, sourceType } = found;
  if (isReadOnly(found)) return fail(io, `${id} is read-only: its source is ${sourceType}. Nothing was deleted`);
  const { version } = options;
  const what = version === undefined ? `${name ?? id} (${id}) with all its versions` : `version ${version} of ${id}`;
  const question = `Delete ${what}? Requests that refer to it will fail.`;
  await confirm({ question, yes: options.yes, json: options.json }, io);
  const { client } = context;
  await asked(io, version === undefined ? client.deleteSkill(id) : client.deleteVersion(id, version));
  if (options.json === true) io.stdout(json({ deleted: { skill_id: id, version: version ?? null } }));
  else io.stdout(`deleted ${what}\n`);
  return forget(context, id, options);
}

/** The next `publish` has to send the content again. */
async function forget({ policy, io }: PlatformContext, id: string, options: DeleteSkillOptions): Promise<number> {
  const record = await openRecord(options, policy.url, io);
  const known = typeof record === 'string' ? undefined : record.entries.find((entry) => entry.skill_id === id);
  if (typeof record === 'string' || known === undefined) return EXIT.ok;
  const left = options.version === undefined ? undefined : { ...known, sha256: null, version: null };
  const failed = await record.replace(id, left);
  return failed === undefined ? EXIT.ok : fail(io, failed);
}

async function openOne(
  wanted: string,
  options: StoredOptions,
  io: CliIo,
  parts: PlatformParts,
): Promise<{ readonly context: PlatformContext; readonly id: string }> {
  const context = await openPlatform(options, io, parts);
  const id = await idOf(wanted, options, context.policy.url, io);
  return { context, id };
}

function documentOf({ id, name, sourceType, latestVersionId }: StoredSkill): Readonly<Record<string, string | null>> {
  return {
    skill_id: id,
    name: name ?? null,
    source: sourceType ?? null,
    latest_version_id: latestVersionId ?? null,
  };
}

function complete({ isComplete }: ListPage<unknown>, io: CliIo): number {
  if (!isComplete) io.stderr('pointsman: the platform has more entries than it listed\n');
  return EXIT.ok;
}
