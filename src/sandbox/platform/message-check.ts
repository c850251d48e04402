// Checks a request for a message as the platform would before a model gets it: its files, its skills and its computer
// tool. Source: the model platform's API, "Using a skill in a message request", "Files API", "Computer toolset tool".
import { z } from 'zod';
import { BETA, BETA_HEADER, requireBeta } from './betas.ts';
import { checkComputer } from './computer-check.ts';
import { PlatformRefusal } from './refused.ts';
import type { SkillStore } from './skill-store.ts';
import { versionForContainer } from './skills-api.ts';
import type { PlatformFiles, StoredFile } from './file-store.ts';
import { content, request, type Block, type MessageBody } from './message-request.ts';

const fileSource = z.looseObject({ type: z.literal('file'), file_id: z.string() });
const CODE_EXECUTION = 'code_execution_20260521';

export interface Stores {
  readonly files: PlatformFiles;
  readonly skills: SkillStore;
}

/** The files and skills that the model would get. */
export function checkMessage(body: unknown, betas: ReadonlySet<string>, { files, skills }: Stores): object {
  const parsed = request.safeParse(body);
  if (!parsed.success) throw new PlatformRefusal(400, z.prettifyError(parsed.error));
  const asked = parsed.data;
  checkComputer(asked, betas);
  const used = asked.messages.flatMap(({ content: parts }) => referencesOf(parts));
  if (used.length > 0) requireBeta(betas, BETA.files, 'a request that refers to a file');
  return {
    files: used.map(({ type, fileId }) => {
      const { id, name } = matching(type, files.find(fileId));
      return { file_id: id, filename: name };
    }),
    skills: checkSkills(asked, betas).map(({ skill_id: id, version }) => {
      const skill = skills.find(id);
      return { skill_id: id, name: skill.name, version: versionForContainer(skill, version).epoch };
    }),
  };
}

interface Reference {
  /** The type of the block. */
  readonly type: string;
  readonly fileId: string;
}

/** Results of tools have blocks of their own. */
function referencesOf(parts: string | readonly Block[]): readonly Reference[] {
  if (typeof parts === 'string') return [];
  return parts.flatMap((part) => {
    const source = fileSource.safeParse(part['source']);
    const within = content.safeParse(part['content']);
    return [
      ...(source.success ? [{ type: part.type, fileId: source.data.file_id }] : []),
      ...(within.success ? referencesOf(within.data) : []),
    ];
  });
}

function matching(type: string, file: StoredFile): StoredFile {
  const { id, mediaType } = file;
  const wanted = mediaType.startsWith('image/')
    ? 'image'
    : /^(?:application\/pdf|text\/.+)$/.test(mediaType)
      ? 'document'
      : undefined;
  if (wanted === type) return file;
  const advice = wanted === undefined ? 'no block takes it' : `it goes in a block of type ${wanted}`;
  throw new PlatformRefusal(
    400,
    `the block of type ${type} refers to ${id} (${mediaType || 'no media type'}): ${advice}`,
  );
}

/** Container, tool and beta values come together. */
function checkSkills(
  { container, tools = [] }: MessageBody,
  betas: ReadonlySet<string>,
): readonly { readonly skill_id: string; readonly version: string }[] {
  const skills = container?.skills ?? [];
  if (skills.length === 0) {
    if (!betas.has(BETA.skills)) return [];
    throw new PlatformRefusal(400, `container.skills is missing: ${BETA_HEADER} has ${BETA.skills}`);
  }
  if (!tools.some(({ type, name }) => type === CODE_EXECUTION && name === 'code_execution'))
    throw new PlatformRefusal(
      400,
      `a request with skills needs the tool ${CODE_EXECUTION} with the name code_execution`,
    );
  requireBeta(betas, BETA.codeExecution, 'a request with skills');
  requireBeta(betas, BETA.skills, 'a request with skills');
  return skills;
}
