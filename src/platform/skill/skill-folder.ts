// The rules for the folder of a skill, before anything of it leaves the machine. Nothing is read or sent from here.
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { shown } from '../../model/printable.ts';
import { linkProblems } from './skill-links.ts';
import { secretProblems } from './skill-secrets.ts';

export interface FolderEntry {
  /** Below the folder, with `/` between its parts. */
  readonly path: string;
  readonly kind: 'file' | 'link' | 'other';
  /** Empty for anything but a file. */
  readonly content: Uint8Array;
}

export interface SkillFile {
  readonly path: string;
  readonly content: Uint8Array;
}

export interface LocalSkill {
  /** The name of the skill. The platform never changes it. */
  readonly slug: string;
  readonly slugFrom: 'front matter' | 'folder';
  readonly description: string;
  /** In the order of their paths. */
  readonly files: readonly SkillFile[];
  readonly bytes: number;
  /** SHA-256 of the sorted paths and contents, in hexadecimal. */
  readonly hash: string;
}

export type CheckedFolder =
  | { readonly kind: 'skill'; readonly skill: LocalSkill }
  /** One sentence each, with the path in front. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

export const SKILL_FILE = 'SKILL.md';

const SLUG = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const SLUG_RULE = '1 to 64 of a-z, 0-9 and single hyphens between them';
const FRONT_MATTER = /^---\r?\n([\s\S]*?\n)---[ \t]*(?:\r?\n|$)([\s\S]*)$/;
const MOST_DESCRIPTION = 1024;
const MOST_PATH_BYTES = 255;

/** `folder`: its name, which is the slug where the front matter has none. */
export function checkFolder(folder: string, entries: readonly FolderEntry[]): CheckedFolder {
  const files = entries
    .filter(({ kind }) => kind === 'file')
    .map(({ path, content }) => ({ path, content }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  const head = readHead(files, folder);
  const problems = [
    ...head.problems,
    ...entries.flatMap(entryProblems),
    ...twins(files),
    ...files.flatMap(secretProblems),
    ...linkProblems(files),
  ];
  if (problems.length > 0) return { kind: 'invalid', problems };
  const { slug, slugFrom, description } = head;
  return { kind: 'skill', skill: { slug, slugFrom, description, files, bytes, hash: hashOf(files) } };
}

type SkillHead = Pick<LocalSkill, 'slug' | 'slugFrom' | 'description'> & { readonly problems: readonly string[] };

function readHead(files: readonly SkillFile[], folder: string): SkillHead {
  const none: SkillHead = { slug: folder, slugFrom: 'folder', description: '', problems: [] };
  const file = files.find(({ path }) => path === SKILL_FILE);
  if (file === undefined) {
    const other = files.find(({ path }) => path.toLowerCase() === SKILL_FILE.toLowerCase());
    const hint = other === undefined ? '' : `, with these letters, not ${other.path}`;
    return { ...none, problems: [`${SKILL_FILE}: a skill needs this file at the top of its folder${hint}`] };
  }
  const parts = FRONT_MATTER.exec(textOf(file));
  if (parts === null) {
    return { ...none, problems: [`${SKILL_FILE}: it must begin with front matter between two lines of ---`] };
  }
  const [, frontMatter = '', instructions = ''] = parts;
  const fields = fieldsOf(frontMatter);
  if (fields === undefined) return { ...none, problems: [`${SKILL_FILE}: its front matter is no YAML map`] };
  const { name, description } = fields;
  const empty = instructions.trim() === '' ? [`${SKILL_FILE}: there are no instructions after the front matter`] : [];
  const slug = name ?? folder;
  return {
    slug: typeof slug === 'string' ? slug : '',
    slugFrom: name === undefined ? 'folder' : 'front matter',
    description: typeof description === 'string' ? description : '',
    problems: [...slugProblems(slug, name === undefined), ...descriptionProblems(description), ...empty],
  };
}

/** Undefined: no YAML, or no map. A null is as good as absent. */
function fieldsOf(frontMatter: string): { readonly name?: unknown; readonly description?: unknown } | undefined {
  try {
    const parsed: unknown = parse(frontMatter);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
    return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== null));
  } catch {
    return undefined;
  }
}

function slugProblems(slug: unknown, isFolder: boolean): readonly string[] {
  if (typeof slug === 'string' && SLUG.test(slug)) return [];
  const value = typeof slug === 'string' ? `"${shown(slug)}"` : 'no text';
  const what = isFolder ? `there is no name, and the name of the folder is ${value}` : `name is ${value}`;
  return [`${SKILL_FILE}: ${what}: it must be ${SLUG_RULE}`];
}

function descriptionProblems(description: unknown): readonly string[] {
  if (typeof description !== 'string' || description.trim() === '') {
    return [`${SKILL_FILE}: description is missing: it says what the skill does, and when a model should use it`];
  }
  const { length } = Array.from(description);
  if (length <= MOST_DESCRIPTION) return [];
  return [`${SKILL_FILE}: description has ${length} characters: at most ${MOST_DESCRIPTION}`];
}

function entryProblems({ path, kind }: FolderEntry): readonly string[] {
  const name = shown(path);
  if (kind === 'link') return [`${name}: symbolic links are not published: put the file itself there`];
  if (kind === 'other') return [`${name}: only files and folders are published`];
  // A quote, a backslash or a line break would end the name of the part in the form.
  if (/[\\"\p{Cc}]/u.test(path)) return [`${name}: the name has a quote, a backslash or a control character`];
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) return [`${name}: the path has more than ${MOST_PATH_BYTES} bytes`];
  return [];
}

/** They would be one file where case does not matter. */
function twins(files: readonly SkillFile[]): readonly string[] {
  const known = new Map<string, string>();
  return files.flatMap(({ path }) => {
    const other = known.get(path.toLowerCase());
    known.set(path.toLowerCase(), path);
    return other === undefined ? [] : [`${shown(path)}: ${shown(other)} differs in upper and lower case alone`];
  });
}

function textOf({ content }: SkillFile): string {
  return new TextDecoder().decode(content);
}

function hashOf(files: readonly SkillFile[]): string {
  const hash = createHash('sha256');
  for (const { path, content } of files) hash.update(`${path}\0${content.length}\0`).update(content);
  return hash.digest('hex');
}
