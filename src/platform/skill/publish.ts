// `pointsman skill publish`: a new skill, or a new version of one. Content that is published already is not
// sent again.
import { realpath } from 'node:fs/promises';
import { isReadOnly } from '../client/records.ts';
import type { LocalSkill } from './skill-folder.ts';
import { json } from '../../cli/json.ts';
import { CommandEnd } from '../../cli/command-end.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import {
  asked,
  fail,
  openPlatform,
  type PlatformContext,
  type PlatformOptions,
  type PlatformParts,
} from '../platform-context.ts';
import { whyNotWritable } from '../state-file.ts';
import { problemsText } from './check-skill.ts';
import { readSkill } from './read-folder.ts';
import { openRecord, type PublishedSkill, type RecordOptions, type SkillRecord } from './skill-record.ts';

export interface PublishOptions extends PlatformOptions, RecordOptions {
  readonly create?: boolean | undefined;
  readonly skillId?: string | undefined;
}

interface PublishRequest {
  readonly context: PlatformContext;
  readonly record: SkillRecord;
  readonly skill: LocalSkill;
  readonly directory: string;
  readonly options: PublishOptions;
}

export async function publishSkill(
  directory: string,
  options: PublishOptions,
  io: CliIo,
  parts: PlatformParts,
): Promise<number> {
  if (options.create === true && options.skillId !== undefined)
    return fail(io, '--create makes a new skill, --skill-id names one that exists: use one of them', EXIT.usage);
  const read = await readSkill(directory);
  if (read.kind === 'unreadable') return fail(io, read.why);
  if (read.kind === 'invalid') {
    io.stderr(problemsText(directory, read.problems));
    return EXIT.failure;
  }
  const context = await openPlatform(options, io, parts);
  const record = await openRecord(options, context.policy.url, io);
  if (typeof record === 'string') return fail(io, record);
  const publishing = { context, record, skill: read.skill, directory: await realpath(directory), options };
  const target = await targetOf(publishing);
  // After the request it would be too late: the id must not get lost.
  const unwritable = await whyNotWritable(record.file, { make: true });
  if (unwritable !== undefined) return fail(io, `${unwritable}. Nothing was sent: use --record FILE`);
  return upload(publishing, target);
}

/** The id of the skill that gets a version. Undefined: a new skill. */
async function targetOf(publishing: PublishRequest): Promise<string | undefined> {
  const { context, record, skill, directory, options } = publishing;
  const { io } = context;
  if (options.skillId !== undefined) return given(publishing, options.skillId);
  const known = record.entries.find(({ name }) => name === skill.slug);
  if (known !== undefined && options.create === true)
    return fail(io, `${skill.slug} is published already, as ${known.skill_id}: without --create it gets a new version`);
  if (known?.sha256 === skill.hash) return unchanged(publishing, known);
  if (known !== undefined) return known.skill_id;
  if (options.create === true) return undefined;
  const before = record.entries.find((entry) => entry.directory === directory);
  const renamed = before && `This folder was published as ${before.name} (${before.skill_id}); a name never changes. `;
  const how = 'use --create for a new skill, or --skill-id ID for one that exists';
  return fail(io, `${renamed ?? ''}${skill.slug} was not published from here: ${how}`);
}

async function given({ context, record, skill }: PublishRequest, id: string): Promise<string> {
  const { client, io } = context;
  const known = record.entries.find((entry) => entry.skill_id === id);
  const refuse = (name: string): never =>
    fail(io, `${id} has the name ${name}, which never changes, and this folder has ${skill.slug}. Nothing was sent`);
  if (known !== undefined && known.name !== skill.slug) return refuse(known.name);
  const found = await asked(io, client.skill(id));
  const { name, sourceType } = found;
  if (isReadOnly(found)) return fail(io, `${id} is read-only: its source is ${sourceType}. Nothing was sent`);
  if (name !== undefined && name !== skill.slug) return refuse(name);
  return id;
}

function unchanged({ context: { io }, skill, options }: PublishRequest, known: PublishedSkill): never {
  if (options.json === true) io.stdout(json({ changed: false, ...known }));
  else io.stdout(`${skill.slug}: unchanged, ${known.skill_id} has this content; nothing was sent\n`);
  throw new CommandEnd(EXIT.ok);
}

async function upload(publishing: PublishRequest, id: string | undefined): Promise<number> {
  const { client, io } = publishing.context;
  const files = filesOf(publishing.skill);
  if (id === undefined) {
    const made = await asked(io, client.createSkill(files), ': `pointsman skill list` shows whether it exists');
    return remember(publishing, made.id, made.latestVersionId, 'created');
  }
  const hint = `: \`pointsman skill versions ${id}\` shows whether it exists`;
  const { version } = await asked(io, client.createVersion(id, files), hint);
  return remember(publishing, id, version, 'new version');
}

/** The folder of each file is the name of the skill, as the platform will mount it. */
function filesOf({ slug, files }: LocalSkill): { name: string; mediaType: string; content: Uint8Array }[] {
  return files.map(({ path, content }) => ({
    name: `${slug}/${path}`,
    mediaType: path.endsWith('.md') ? 'text/markdown' : 'application/octet-stream',
    content,
  }));
}

async function remember(
  { context: { policy, io }, record, skill, directory, options }: PublishRequest,
  id: string,
  version: string | undefined,
  what: string,
): Promise<number> {
  const entry: PublishedSkill = {
    url: policy.url,
    skill_id: id,
    name: skill.slug,
    directory,
    sha256: skill.hash,
    version: version ?? null,
    published_at: new Date().toISOString(),
  };
  if (options.json === true) io.stdout(json({ changed: true, ...entry }));
  else io.stdout(`${skill.slug}: ${what}, ${id}${version === undefined ? '' : `, version ${version}`}\n`);
  const failed = await record.replace(id, entry);
  if (failed === undefined) return EXIT.ok;
  return fail(io, `${failed}. The skill is published as ${id}: next time use --skill-id ${id}`);
}
