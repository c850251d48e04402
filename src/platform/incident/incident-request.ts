// `pointsman incidents request`: the message request that asks a model about a stored incident. Nothing is sent.
import { fileFragment, skillsFragment, printRequest } from '../fragments.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { fail, platformConfig } from '../platform-context.ts';
import type { MessageOptions } from '../message-options.ts';
import { skillReference } from '../skill/skill-id.ts';
import { sourceOf, type IncidentsOptions } from '../../cli/incidents/incident-source.ts';
import { uploadsOf } from './uploads.ts';

export interface IncidentRequestOptions extends IncidentsOptions, MessageOptions {
  /** `ID[:VERSION]`, or the name of a skill that was published from here. */
  readonly skill?: string | undefined;
  /** The record of published skills. */
  readonly record?: string | undefined;
}

const QUESTION =
  'The document is an incident that Pointsman recorded. Say in one screen: what happened, with event ids; what is ' +
  'unknown; and the next step that is safe. Propose a change only with its reason, its checks and its undo.';

export async function requestAboutIncident(
  wanted: string,
  options: IncidentRequestOptions,
  io: CliIo,
): Promise<number> {
  const config = platformConfig(options, io);
  const { policy } = config;
  const id = wanted === 'latest' ? await latest(options, io) : wanted;
  const upload = await uploadsOf(options, config, io).find(id);
  if (typeof upload === 'string') return fail(io, upload);
  if (upload === undefined)
    return fail(io, `incident ${id} is not stored on ${policy.url}: \`pointsman incidents upload ${id}\` stores it`);
  const { skill, record } = options;
  const skills = skill === undefined ? [] : [skillsFragment([await skillReference(skill, { record }, policy.url, io)])];
  const document = fileFragment(upload.file_id, 'text/plain');
  const fragments = [...skills, ...(document === undefined ? [] : [document])];
  printRequest(io, options, QUESTION, policy.betaHeader, fragments);
  if (upload.state === 'open') {
    io.stderr(`pointsman: incident ${id} was open when it was stored: upload it again when it has settled\n`);
  }
  return EXIT.ok;
}

async function latest(options: IncidentRequestOptions, io: CliIo): Promise<string> {
  const { entries } = await sourceOf(options, io);
  return entries[0]?.id ?? fail(io, 'there are no incidents');
}
