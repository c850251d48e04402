// The skills API. Source: the model platform's API, "Skills API". A request with the skills beta value names versions
// by epoch timestamp; any other one by id, or `latest`.
import { json, type ManagerAnswer } from '../api/api-answer.ts';
import type { LabRequest } from '../http-server.ts';
import type { SkillDialect } from '../../model/skill-dialect.ts';
import { BETA } from './betas.ts';
import { readFiles } from './form.ts';
import { PlatformRefusal } from './refused.ts';
import { readSkillFolder, type SkillFolder } from './skill-folder.ts';
import type { Skill, SkillStore, SkillVersion } from './skill-store.ts';

/** In the form of an upload. */
export const SKILL_FIELD = 'files[]';

export type PlatformPaths = Readonly<Record<string, () => ManagerAnswer | Promise<ManagerAnswer>>>;

export function dialectOf(betas: ReadonlySet<string>): SkillDialect {
  return betas.has(BETA.skills) ? 'beta' : 'general';
}

/** The ways to use a path below /v1/skills, by method. Undefined: there is no such path. */
export function skillWays(
  [id, below, reference, ...more]: readonly string[],
  asked: LabRequest,
  dialect: SkillDialect,
  store: SkillStore,
): PlatformPaths | undefined {
  const sent = async (): Promise<SkillFolder> => readSkillFolder(await readFiles(asked, SKILL_FIELD));
  const skillAnswer = (skill: Skill): ManagerAnswer => json(200, skillRecord(skill, dialect));
  const versionAnswer = (skill: string, version: SkillVersion): ManagerAnswer =>
    json(200, versionRecord(store.find(skill), version, dialect));
  if (id === undefined) {
    return {
      GET: () => json(200, { data: store.list().map((skill) => skillRecord(skill, dialect)), has_more: false }),
      POST: async () => skillAnswer(await store.create(await sent())),
    };
  }
  if (below === undefined) {
    return {
      GET: () => skillAnswer(store.find(id)),
      DELETE: async () => {
        await store.remove(id);
        return json(200, { skill_id: id, deleted: true });
      },
    };
  }
  if (below !== 'versions' || more.length > 0) return undefined;
  if (reference === undefined) {
    return {
      GET: () => {
        const skill = store.find(id);
        return json(200, { data: skill.versions.map((one) => versionRecord(skill, one, dialect)), has_more: false });
      },
      POST: async () => versionAnswer(id, await store.addVersion(id, await sent())),
    };
  }
  return {
    GET: () => versionAnswer(id, findVersion(store.find(id), reference, dialect)),
    DELETE: async () => {
      await store.removeVersion(id, findVersion(store.find(id), reference, dialect));
      return json(200, { skill_id: id, version: reference, deleted: true });
    },
  };
}

function findVersion(skill: Skill, reference: string, dialect: SkillDialect): SkillVersion {
  if (dialect === 'beta' && reference === 'latest')
    throw new PlatformRefusal(400, 'with the skills beta value a version is an epoch timestamp: latest is none');
  const found =
    reference === 'latest'
      ? skill.versions.at(-1)
      : skill.versions.find((version) => nameOf(version, dialect) === reference);
  if (found === undefined) throw new PlatformRefusal(404, `the skill ${skill.id} has no version ${reference}`);
  return found;
}

/** For a container: it takes each of the names of a version. */
export function versionForContainer(skill: Skill, reference: string): SkillVersion {
  const byEpoch = skill.versions.find(({ epoch }) => epoch === reference);
  return byEpoch ?? findVersion(skill, reference, 'general');
}

function nameOf({ id, epoch }: SkillVersion, dialect: SkillDialect): string {
  return dialect === 'beta' ? epoch : id;
}

function skillRecord(skill: Skill, dialect: SkillDialect): object {
  const { id, name, source, versions } = skill;
  const latest = versions.at(-1);
  return {
    skill_id: id,
    name,
    ...(latest === undefined ? {} : { latest_version_id: nameOf(latest, dialect) }),
    source: { type: source },
  };
}

function versionRecord({ id, name }: Skill, version: SkillVersion, dialect: SkillDialect): object {
  const { description, createdAt } = version;
  return {
    skill_id: id,
    version: nameOf(version, dialect),
    name,
    ...(description === undefined ? {} : { description }),
    created_at: createdAt.toISOString(),
  };
}
