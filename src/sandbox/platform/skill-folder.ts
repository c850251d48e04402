// A skill as it is uploaded: one folder with SKILL.md at its top. Source: the model platform's API, "Resources and
// their fields" (Skill, name).
import { parse } from 'yaml';
import { z } from 'zod';
import { isPlainName, type SentFile } from './form.ts';
import { PlatformRefusal } from './refused.ts';

export interface SkillFolder {
  /** The slug: `name` in the front matter, else the name of the folder. */
  readonly name: string;
  readonly description: string | undefined;
  /** By their path in the folder. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const frontMatter = z.looseObject({ name: z.string().nullish(), description: z.string().nullish() });

export function readSkillFolder(sent: readonly SentFile[]): SkillFolder {
  const [top = ''] = sent[0]?.name.split('/') ?? [];
  const files = new Map<string, Buffer>();
  for (const { name, bytes } of sent) {
    const [folder, ...path] = name.split('/');
    if (path.length === 0 || ![folder ?? '', ...path].every(isPlainName))
      throw new PlatformRefusal(400, `the file name ${JSON.stringify(name)} is not FOLDER/PATH`);
    if (folder !== top) throw new PlatformRefusal(400, `the files are in two folders, ${top} and ${folder}`);
    if (files.has(path.join('/'))) throw new PlatformRefusal(400, `the file ${name} is there twice`);
    files.set(path.join('/'), bytes);
  }
  const instructions = files.get('SKILL.md');
  if (instructions === undefined) throw new PlatformRefusal(400, `there is no file ${top}/SKILL.md`);
  const { name, description } = readFrontMatter(instructions.toString());
  const slug = name ?? top;
  if (!SLUG.test(slug))
    throw new PlatformRefusal(400, `the name ${JSON.stringify(slug)} is not in kebab case (pointsman-runbook)`);
  return { name: slug, description: description ?? undefined, files };
}

function readFrontMatter(text: string): z.infer<typeof frontMatter> {
  const found = /^---\r?\n(.*?)\r?\n---\s*(?:\n|$)/s.exec(text)?.[1];
  if (found === undefined) return {};
  try {
    const parsed = frontMatter.safeParse(parse(found) ?? {});
    if (parsed.success) return parsed.data;
  } catch {
    // The answer below is for this, too.
  }
  throw new PlatformRefusal(400, 'the front matter of SKILL.md is no YAML with a name and a description');
}
