// The id of a skill by the words of a command: `skill_…`, or the name of a skill that was published from here.
import type { SkillReference } from '../fragments.ts';
import type { CliIo } from '../../cli/io.ts';
import { fail } from '../platform-context.ts';
import { openRecord, type RecordOptions } from './skill-record.ts';

export async function idOf(wanted: string, options: RecordOptions, url: string, io: CliIo): Promise<string> {
  if (wanted.startsWith('skill_')) return wanted;
  const record = await openRecord(options, url, io);
  if (typeof record === 'string') return fail(io, record);
  const known = record.entries.find(({ name }) => name === wanted);
  if (known !== undefined) return known.skill_id;
  return fail(io, `${wanted} was not published from here: use its id (skill_…), which \`pointsman skill list\` shows`);
}

/** `ID[:VERSION]` or `NAME[:VERSION]`. */
export async function skillReference(
  wanted: string,
  options: RecordOptions,
  url: string,
  io: CliIo,
): Promise<SkillReference> {
  const [skill = '', ...rest] = wanted.split(':');
  const id = await idOf(skill, options, url, io);
  return { skill_id: id, version: rest.join(':') || 'latest' };
}
