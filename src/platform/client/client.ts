// The client of the platform: skills, files and agents. Commands alone use it.
// Source: the model platform API, "Endpoints".
import { ApiError } from '../../http/request.ts';
import { BETAS, type Beta } from '../betas.ts';
import { expected, readFileId, readList, readSkill, readVersion } from './records.ts';
import type { ListPage, StoredSkill, StoredVersion } from './records.ts';
import { send, sendForText, type PlatformAccess, type PlatformRequest } from './send.ts';

/** Every method rejects with an ApiError. Only reads are repeated. */
export interface PlatformClient {
  /** `files`: their names begin with the slug. */
  createSkill(files: readonly UploadedFile[]): Promise<StoredSkill>;
  skills(): Promise<ListPage<StoredSkill>>;
  skill(id: string): Promise<StoredSkill>;
  deleteSkill(id: string): Promise<void>;
  createVersion(skillId: string, files: readonly UploadedFile[]): Promise<StoredVersion>;
  versions(skillId: string): Promise<ListPage<StoredVersion>>;
  /** `version`: `latest` in the general dialect alone. */
  version(skillId: string, version: string): Promise<StoredVersion>;
  deleteVersion(skillId: string, version: string): Promise<void>;
  /** The id of the stored file. */
  uploadFile(file: UploadedFile): Promise<string>;
  /**
   * Both are JSON texts, sent and returned as they are: the interface shows none of the fields, and a number may be one
   * that JavaScript does not have. Undefined: the answer is no JSON.
   */
  createAgent(configuration: string): Promise<string | undefined>;
}

export function createPlatformClient(access: PlatformAccess): PlatformClient {
  return { ...skillMethods(access), ...versionMethods(access), ...otherMethods(access) };
}

type SkillMethods = Pick<PlatformClient, 'createSkill' | 'skills' | 'skill' | 'deleteSkill'>;

function skillMethods(access: PlatformAccess): SkillMethods {
  const betas = skillBetas(access);
  return {
    async createSkill(files) {
      const body = await skillForm(access, files);
      const document = await send(access, { method: 'POST', path: '/v1/skills', betas, body });
      return expected(readSkill(document), 'with no id of the skill: look it up in the list of skills');
    },
    async skills() {
      const document = await send(access, { method: 'GET', path: '/v1/skills', betas });
      return expected(readList(document, readSkill), 'not with a list of skills');
    },
    async skill(id) {
      const document = await send(access, { method: 'GET', path: skillPath(id), betas });
      return expected(readSkill(document), 'not with a skill');
    },
    async deleteSkill(id) {
      await send(access, { method: 'DELETE', path: skillPath(id), betas });
    },
  };
}

type VersionMethods = Pick<PlatformClient, 'createVersion' | 'versions' | 'version' | 'deleteVersion'>;

function versionMethods(access: PlatformAccess): VersionMethods {
  const betas = skillBetas(access);
  const pathOf = (id: string, version: string): string => versionPath(access, id, version);
  return {
    async createVersion(id, files) {
      const path = `${skillPath(id)}/versions`;
      const body = await skillForm(access, files);
      const document = await send(access, { method: 'POST', path, betas, body });
      return expected(readVersion(document), 'with no version: look it up in the list of versions');
    },
    async versions(id) {
      const document = await send(access, { method: 'GET', path: `${skillPath(id)}/versions`, betas });
      return expected(readList(document, readVersion), 'not with a list of versions');
    },
    async version(id, version) {
      const document = await send(access, { method: 'GET', path: pathOf(id, version), betas });
      return expected(readVersion(document), 'not with a version of a skill');
    },
    async deleteVersion(id, version) {
      await send(access, { method: 'DELETE', path: pathOf(id, version), betas });
    },
  };
}

function otherMethods(access: PlatformAccess): Pick<PlatformClient, 'uploadFile' | 'createAgent'> {
  const { field, extraFields } = access.policy.files;
  return {
    async uploadFile(file) {
      const body = await formBody(field, [file], extraFields);
      const document = await send(access, { method: 'POST', path: '/v1/files', betas: [BETAS.files], body });
      return expected(readFileId(document), 'with no id of the file');
    },
    async createAgent(configuration) {
      const body = { type: 'application/json', content: configuration };
      return await sendForText(access, { method: 'POST', path: '/v1/agents', betas: [BETAS.agents], body });
    },
  };
}

/** The beta value changes how versions are addressed, so the general dialect does not send it. */
function skillBetas({ policy }: PlatformAccess): readonly Beta[] {
  return policy.skills.dialect === 'beta' ? [BETAS.skills] : [];
}

function skillForm({ policy }: PlatformAccess, files: readonly UploadedFile[]): ReturnType<typeof formBody> {
  return formBody(policy.skills.filesField, files, policy.skills.extraFields);
}

function skillPath(id: string): string {
  if (!/^skill_[\w-]{1,250}$/.test(id))
    throw invalid(`${JSON.stringify(id)} is no id of a skill: it begins with skill_`);
  return `/v1/skills/${id}`;
}

function versionPath({ policy }: PlatformAccess, id: string, version: string): string {
  if (policy.skills.dialect === 'beta' && !/^\d{1,20}$/.test(version)) {
    const example = 'such as 1759178010641129';
    throw invalid(`${JSON.stringify(version)} is no version of the dialect beta: it is a Unix epoch ${example}`);
  }
  if (!/^[\x21-\x7e]{1,256}$/.test(version) || /^\.{1,2}$/.test(version)) {
    throw invalid(`${JSON.stringify(version)} is no version of a skill`);
  }
  return `${skillPath(id)}/versions/${encodeURIComponent(version)}`;
}

function invalid(message: string): ApiError {
  return new ApiError('local', message);
}

interface UploadedFile {
  /** The file name of its part. Of a skill: `SLUG/path`. */
  readonly name: string;
  readonly mediaType: string;
  readonly content: Uint8Array;
}

/** Each file is a part with the name `field`. */
async function formBody(
  field: string,
  files: readonly UploadedFile[],
  extraFields: Readonly<Record<string, string>>,
): Promise<NonNullable<PlatformRequest['body']>> {
  const form = new FormData();
  for (const [name, value] of Object.entries(extraFields)) form.append(name, value);
  for (const { name, mediaType, content } of files) {
    form.append(field, new Blob([new Uint8Array(content)], { type: mediaType }), name);
  }
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { type, content: new Uint8Array(await encoded.arrayBuffer()) };
}
