// The client of the platform: skills, files and agents. Commands alone use it.
// Source: the model platform API, "Endpoints".
import { ApiError } from '../../http/request.ts';
import type { SkillDialect } from '../../model/skill-dialect.ts';
import { BETAS } from '../betas.ts';
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
  const { files, skills } = access.policy;
  // The beta value changes how versions are addressed, so the general dialect does not send it.
  const betas = skills.dialect === 'beta' ? [BETAS.skills] : [];
  const get = (path: string): Promise<unknown> => send(access, { method: 'GET', path, betas });
  const remove = (path: string): Promise<unknown> => send(access, { method: 'DELETE', path, betas });
  const upload = async (path: string, sent: readonly UploadedFile[]): Promise<unknown> => {
    const body = await formBody(skills.filesField, sent, skills.extraFields);
    return send(access, { method: 'POST', path, betas, body });
  };
  const pathOf = (id: string, version: string): string => versionPath(id, version, skills.dialect);

  return {
    createSkill: async (sent) =>
      expected(
        readSkill(await upload('/v1/skills', sent)),
        'with no id of the skill: look it up in the list of skills',
      ),
    skills: async () => expected(readList(await get('/v1/skills'), readSkill), 'not with a list of skills'),
    skill: async (id) => expected(readSkill(await get(skillPath(id))), 'not with a skill'),
    deleteSkill: async (id) => void (await remove(skillPath(id))),
    createVersion: async (id, sent) =>
      expected(
        readVersion(await upload(versionsPath(id), sent)),
        'with no version: look it up in the list of versions',
      ),
    versions: async (id) => expected(readList(await get(versionsPath(id)), readVersion), 'not with a list of versions'),
    version: async (id, version) =>
      expected(readVersion(await get(pathOf(id, version))), 'not with a version of a skill'),
    deleteVersion: async (id, version) => void (await remove(pathOf(id, version))),
    async uploadFile(file) {
      const body = await formBody(files.field, [file], files.extraFields);
      const document = await send(access, { method: 'POST', path: '/v1/files', betas: [BETAS.files], body });
      return expected(readFileId(document), 'with no id of the file');
    },
    createAgent(configuration) {
      const body = { type: 'application/json', content: configuration };
      return sendForText(access, { method: 'POST', path: '/v1/agents', betas: [BETAS.agents], body });
    },
  };
}

function skillPath(id: string): string {
  if (/^skill_[\w-]{1,250}$/.test(id)) return `/v1/skills/${id}`;
  throw invalid(`${JSON.stringify(id)} is no id of a skill: it begins with skill_`);
}

function versionsPath(skillId: string): string {
  return `${skillPath(skillId)}/versions`;
}

function versionPath(skillId: string, version: string, dialect: SkillDialect): string {
  if (dialect === 'beta' && !/^\d{1,20}$/.test(version)) {
    const example = 'such as 1759178010641129';
    throw invalid(`${JSON.stringify(version)} is no version of the dialect beta: it is a Unix epoch ${example}`);
  }
  if (!/^[\x21-\x7e]{1,256}$/.test(version) || /^\.{1,2}$/.test(version)) {
    throw invalid(`${JSON.stringify(version)} is no version of a skill`);
  }
  return `${versionsPath(skillId)}/${encodeURIComponent(version)}`;
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
