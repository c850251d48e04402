// A test for each line of contract 3 about skills.
import { expect } from 'vitest';
import { ApiError } from '../../../../src/http/request.ts';
import { isReadOnly } from '../../../../src/platform/client/records.ts';
import { BETA, clientOf, filesOf, formOf, isRefused, isSuccess, newName, send, uploadOf, withSkill } from './target.ts';
import type { PlatformTarget } from './target.ts';

/** The name by which the platform keeps a folder. */
async function nameOf(on: PlatformTarget, files: Readonly<Record<string, string>>): Promise<string | undefined> {
  const uploads = Object.entries(files).map(([name, text]) => ({
    name,
    mediaType: 'text/markdown',
    content: new TextEncoder().encode(text),
  }));
  const { id } = await clientOf(on).createSkill(uploads);
  const { name } = await clientOf(on).skill(id);
  await clientOf(on).deleteSkill(id);
  return name;
}

const addVersion = (on: PlatformTarget, id: string, files: Readonly<Record<string, string>>) =>
  send(on, 'POST', `/v1/skills/${id}/versions`, [], formOf(on.skillsField, files));

export const SKILL_TESTS = {
  async skills_versioned(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => {
      const first = await clientOf(on).versions(id);
      const { version } = await clientOf(on).createVersion(id, uploadOf(name));
      const both = await clientOf(on).versions(id);
      expect(first.entries).toHaveLength(1);
      expect(both.entries.map((one) => one.version).toSorted()).toEqual(
        [...first.entries.map((one) => one.version), version].toSorted(),
      );
    });
  },
  async skill_id(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => expect(id).toMatch(/^skill_./));
    await expect(clientOf(on).skill('file_1')).rejects.toThrow('it begins with skill_');
  },
  async name_from_front_matter(on: PlatformTarget) {
    const [folder, name] = [newName(), newName()];
    expect(await nameOf(on, filesOf(folder, name))).toBe(name);
  },
  async name_from_folder(on: PlatformTarget) {
    const folder = newName();
    expect(await nameOf(on, filesOf(folder, ''))).toBe(folder);
  },
  async name_never_changes(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => {
      expect(await addVersion(on, id, filesOf(newName()))).toSatisfy(isRefused);
      // Another folder, the same name.
      expect(await addVersion(on, id, filesOf(newName(), name))).toSatisfy(isSuccess);
      expect((await clientOf(on).skill(id)).name).toBe(name);
    });
  },
  async name_is_top_folder(on: PlatformTarget) {
    const name = newName();
    const form = formOf(on.skillsField, { ...filesOf(name), [`${newName()}/other.md`]: 'of another folder' });
    expect(await send(on, 'POST', '/v1/skills', [], form)).toSatisfy(isRefused);
    expect(uploadOf(name).every((file) => file.name.startsWith(`${name}/`))).toBe(true);
  },
  async latest_version_id(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => {
      const { version } = await clientOf(on).createVersion(id, uploadOf(name));
      expect((await clientOf(on).skill(id)).latestVersionId).toBe(version);
      expect(await clientOf(on).version(id, 'latest')).toEqual({ version });
    });
  },
  async source_custom(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      const skill = await clientOf(on).skill(id);
      expect(skill.sourceType).toBe('custom');
      expect(isReadOnly(skill)).toBe(false);
    });
  },
  async source_shared(on: PlatformTarget) {
    const { entries } = await clientOf(on).skills();
    const shared = entries.filter(isReadOnly);
    expect(new Set(shared.map(({ sourceType }) => sourceType))).toEqual(
      new Set(['anthropic', 'anthropic_example', 'plugin']),
    );
    for (const { id, name = '' } of shared) {
      await expect(clientOf(on).deleteSkill(id)).rejects.toThrow(ApiError);
      expect(await addVersion(on, id, filesOf(name))).toSatisfy(isRefused);
      expect((await clientOf(on).skill(id)).name).toBe(name);
    }
  },
  async version_epoch(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      const { entries } = await clientOf(on, 'beta').versions(id);
      expect(entries.map(({ version }) => version)).toEqual([expect.stringMatching(/^\d{10,}$/)]);
    });
  },
  async other_fields(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => {
      const skill = await clientOf(on).skill(id);
      expect(Object.keys(skill).toSorted()).toEqual(['id', 'latestVersionId', 'name', 'sourceType']);
      expect(skill).toMatchObject({ id, name });
    });
  },
  async post_skill(on: PlatformTarget) {
    const name = newName();
    const { id } = await clientOf(on).createSkill(uploadOf(name));
    expect((await clientOf(on).skill(id)).name).toBe(name);
    await clientOf(on).deleteSkill(id);
    expect(await send(on, 'POST', '/v1/skills', [], JSON.stringify({ name }))).toSatisfy(isRefused);
  },
  async get_skills(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => {
      const { entries, isComplete } = await clientOf(on).skills();
      expect(entries.find((skill) => skill.id === id)).toMatchObject({ name, sourceType: 'custom' });
      expect(isComplete).toBe(true);
    });
  },
  async get_skill(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => expect(await clientOf(on).skill(id)).toMatchObject({ id, name }));
    await expect(clientOf(on).skill('skill_of_nobody')).rejects.toThrow('GET /v1/skills/skill_of_nobody');
  },
  async delete_skill(on: PlatformTarget) {
    const { id } = await clientOf(on).createSkill(uploadOf(newName()));
    await clientOf(on).deleteSkill(id);
    expect((await clientOf(on).skills()).entries.some((skill) => skill.id === id)).toBe(false);
    await expect(clientOf(on).deleteSkill(id)).rejects.toThrow(ApiError);
  },
  async post_version(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => {
      for (const dialect of ['general', 'beta'] as const) {
        const { version } = await clientOf(on, dialect).createVersion(id, uploadOf(name));
        expect(await clientOf(on, dialect).version(id, version)).toEqual({ version });
      }
    });
  },
  async get_versions(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      for (const dialect of ['general', 'beta'] as const) {
        expect((await clientOf(on, dialect).versions(id)).entries).toHaveLength(1);
      }
    });
  },
  async get_version(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      const [first] = (await clientOf(on).versions(id)).entries;
      expect(await clientOf(on).version(id, first?.version ?? '')).toEqual(first);
      await expect(clientOf(on).version(id, 'version_of_nobody')).rejects.toThrow(ApiError);
    });
  },
  async delete_version(on: PlatformTarget) {
    await withSkill(on, async ({ id, name }) => {
      const { version } = await clientOf(on).createVersion(id, uploadOf(name));
      await clientOf(on).deleteVersion(id, version);
      const { entries } = await clientOf(on).versions(id);
      expect(entries).toHaveLength(1);
      expect(entries).not.toContainEqual({ version });
    });
  },
  async latest_reference(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      const [only] = (await clientOf(on).versions(id)).entries;
      expect(await clientOf(on).version(id, 'latest')).toEqual(only);
    });
  },
  async beta_addresses(on: PlatformTarget) {
    await withSkill(on, async ({ id }) => {
      const path = `/v1/skills/${id}/versions`;
      expect(await send(on, 'GET', `${path}/latest`, [BETA.skills])).toSatisfy(isRefused);
      await expect(clientOf(on, 'beta').version(id, 'latest')).rejects.toThrow('it is a Unix epoch');
      const [only] = (await clientOf(on, 'beta').versions(id)).entries;
      expect(await send(on, 'GET', `${path}/${only?.version}`, [BETA.skills])).toSatisfy(isSuccess);
    });
  },
  async skill_form(on: PlatformTarget) {
    // The configured name works, another one does not: the client has none of its own.
    const name = newName();
    const other = { ...on, skillsField: `${on.skillsField}-other` };
    await expect(clientOf(other).createSkill(uploadOf(name))).rejects.toThrow(ApiError);
    const { id } = await clientOf(on).createSkill(uploadOf(name));
    await clientOf(on).deleteSkill(id);
  },
};
