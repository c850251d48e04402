// `pointsman skill check`: the rules for a skill, before it is published.
import { sizeText } from '../../model/check.ts';
import type { LocalSkill } from './skill-folder.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { json } from '../../cli/json.ts';
import { readSkill } from './read-folder.ts';

export interface CheckSkillOptions {
  readonly json?: boolean | undefined;
}

export async function checkSkill(directory: string, options: CheckSkillOptions, io: CliIo): Promise<number> {
  const read = await readSkill(directory);
  const problems = read.kind === 'invalid' ? read.problems : read.kind === 'unreadable' ? [read.why] : [];
  const skill = read.kind === 'skill' ? read.skill : null;
  if (options.json === true) io.stdout(json(documentOf(directory, skill, problems)));
  else if (skill !== null) io.stdout(skillText(directory, skill));
  else io.stderr(problemsText(directory, problems));
  return skill === null ? EXIT.failure : EXIT.ok;
}

/** A line for each problem, and their number. */
export function problemsText(directory: string, problems: readonly string[]): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return `${problems.map((problem) => `${problem}\n`).join('')}pointsman: ${directory}: ${count}\n`;
}

function skillText(directory: string, { slug, slugFrom, description, files, bytes }: LocalSkill): string {
  return [
    `${directory}: ok`,
    `  name         ${slug} (from the ${slugFrom})`,
    `  description  ${Array.from(description).length} characters`,
    `  files        ${files.length}, ${sizeText(bytes)}`,
    '',
  ].join('\n');
}

function documentOf(directory: string, skill: LocalSkill | null, problems: readonly string[]): Record<string, unknown> {
  return {
    directory,
    valid: skill !== null,
    problems,
    skill: skill && {
      name: skill.slug,
      description: skill.description,
      sha256: skill.hash,
      bytes: skill.bytes,
      files: skill.files.map(({ path, content }) => ({ path, bytes: content.length })),
    },
  };
}
