// Skills and their versions. Their contents are on disk as the platform mounts them: skills/ID/VERSION/NAME/PATH.
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PlatformRefusal } from './refused.ts';
import type { SkillFolder } from './skill-folder.ts';

export type SkillSource = 'custom' | 'anthropic' | 'anthropic_example' | 'plugin';

export interface SkillVersion {
  readonly id: string;
  /** The name of the same version in requests with the skills beta value. */
  readonly epoch: string;
  readonly description: string | undefined;
  readonly createdAt: Date;
}

export interface Skill {
  readonly id: string;
  /** It never changes. */
  readonly name: string;
  readonly source: SkillSource;
  /** In order of their creation. */
  readonly versions: readonly SkillVersion[];
}

export class SkillStore {
  readonly #directory: string;
  readonly #skills = new Map<string, Skill>();
  #lastEpoch = 0;

  constructor(directory: string) {
    this.#directory = join(directory, 'skills');
  }

  list(): readonly Skill[] {
    return [...this.#skills.values()];
  }

  find(id: string): Skill {
    const skill = this.#skills.get(id);
    if (skill === undefined) throw new PlatformRefusal(404, `there is no skill ${id}`);
    return skill;
  }

  /** Skills of the vendor come with the platform, the others from its users. */
  async create(folder: SkillFolder, source: SkillSource = 'custom'): Promise<Skill> {
    const id = `skill_${randomBytes(12).toString('hex')}`;
    const version = await this.#write(id, folder);
    const skill = { id, name: folder.name, source, versions: [version] };
    this.#skills.set(id, skill);
    return skill;
  }

  async addVersion(id: string, folder: SkillFolder): Promise<SkillVersion> {
    const { name } = this.#findCustom(id);
    if (folder.name !== name)
      throw new PlatformRefusal(
        400,
        `the skill has the name ${name}, which never changes: ${folder.name} is another skill`,
      );
    const version = await this.#write(id, folder);
    // The upload took a while.
    const skill = this.#findCustom(id);
    this.#skills.set(id, { ...skill, versions: [...skill.versions, version] });
    return version;
  }

  async remove(id: string): Promise<void> {
    this.#findCustom(id);
    this.#skills.delete(id);
    await rm(join(this.#directory, id), { recursive: true, force: true });
  }

  async removeVersion(id: string, { epoch }: SkillVersion): Promise<void> {
    const skill = this.#findCustom(id);
    this.#skills.set(id, { ...skill, versions: skill.versions.filter((one) => one.epoch !== epoch) });
    await rm(join(this.#directory, id, epoch), { recursive: true, force: true });
  }

  #findCustom(id: string): Skill {
    const skill = this.find(id);
    if (skill.source !== 'custom') throw new PlatformRefusal(403, `the skill ${id} (${skill.source}) can only be read`);
    return skill;
  }

  async #write(id: string, { name, description, files }: SkillFolder): Promise<SkillVersion> {
    const createdAt = new Date();
    // Two versions of one millisecond have different names.
    this.#lastEpoch = Math.max(this.#lastEpoch + 1, createdAt.getTime());
    const epoch = String(this.#lastEpoch);
    for (const [path, bytes] of files) {
      const file = join(this.#directory, id, epoch, name, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes);
    }
    return { id: `version_${randomBytes(12).toString('hex')}`, epoch, description, createdAt };
  }
}
