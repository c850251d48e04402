// A model platform that keeps contract 3 to the letter. Where the contract is silent, its quirks decide.
import { startFakeServer } from '../branches/fake-server.ts';
import type { FakeAnswer, FakeRequest, FakeServer } from '../branches/fake-server.ts';
import { ordered } from '../branches/quirks.ts';
import { messageFault } from './fake-messages.ts';
import { fileRecord, inEnvelope, inList, nameOf, skillRecord, versionRecord } from './fake-records.ts';
import type { Dialect, FakeSkill, FakeVersion } from './fake-records.ts';
import { PLAIN_PLATFORM } from './quirks.ts';
import type { PlatformQuirks } from './quirks.ts';

export interface SentPart {
  readonly name: string;
  readonly mediaType: string;
  readonly text: string;
}

export interface FakePlatform extends FakeServer {
  readonly quirks: PlatformQuirks;
  readonly skills: readonly FakeSkill[];
  /** The files of each upload of a skill, in order. */
  readonly uploads: readonly (readonly SentPart[])[];
  readonly files: ReadonlyMap<string, SentPart>;
  readonly agents: readonly unknown[];
}

interface Asked extends FakeRequest {
  readonly betas: ReadonlySet<string>;
  readonly dialect: Dialect;
}

const SHARED = ['anthropic', 'anthropic_example', 'plugin'];
const BETAS: ReadonlySet<string> = new Set([
  'skills-2025-10-02',
  'code-execution-2025-08-25',
  'files-api-2025-04-14',
  'computer-20251124-api',
  'managed-agents-2026-04-01',
]);

/** A refusal. The contract shows neither its status nor its body. */
class Refused extends Error {}

class Platform {
  readonly quirks: PlatformQuirks;
  readonly violations: string[] = [];
  readonly skills: (FakeSkill & { versions: readonly FakeVersion[] })[] = [];
  readonly uploads: (readonly SentPart[])[] = [];
  readonly files = new Map<string, SentPart>();
  readonly agents: unknown[] = [];
  #made = 0;
  readonly #delayed = new Map<string, number>();

  constructor(quirks: PlatformQuirks) {
    this.quirks = quirks;
    for (const source of SHARED) this.#addSkill(`shared-${source.replace('_', '-')}`, source);
  }

  async answer(request: FakeRequest): Promise<FakeAnswer> {
    const { authHeader, apiKey, refusedCode, betaHeader } = this.quirks;
    if (request.headers[authHeader.toLowerCase()] !== apiKey) return { status: 401 };
    const values = String(request.headers[betaHeader.toLowerCase()] ?? '').split(',');
    const betas = new Set(values.map((value) => value.trim()).filter((value) => value !== ''));
    this.violations.push(...[...betas].filter((beta) => !BETAS.has(beta)).map((beta) => `beta value ${beta}`));
    const asked = { ...request, betas, dialect: betas.has('skills-2025-10-02') ? 'beta' : 'general' } as const;
    try {
      return this.#beforeRead(asked) ?? (await this.#route(asked));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: refusedCode };
    }
  }

  /** A passing trouble, before the first read of each path. */
  #beforeRead({ method, path }: Asked): FakeAnswer | undefined {
    if (method !== 'GET') return undefined;
    const seen = this.#delayed.get(path) ?? 0;
    this.#delayed.set(path, seen + 1);
    const status = this.quirks.beforeReads[seen];
    return status === undefined ? undefined : { status };
  }

  async #route(asked: Asked): Promise<FakeAnswer> {
    const { method, path } = asked;
    if (path === this.quirks.messagePath && method === 'POST') return this.#message(asked);
    if (path === '/v1/files' && method === 'POST') return this.#upload(asked);
    if (path === '/v1/agents' && method === 'POST') return this.#agent(asked);
    const [, id, below, version] =
      /^\/v1\/skills(?:\/([^/]+)(?:\/(versions)(?:\/([^/]+))?)?)?$/.exec(path) ?? this.#noPath(asked);
    if (id === undefined) return method === 'POST' ? this.#create(asked) : this.#listSkills(asked);
    const skill = this.#find(id);
    if (method !== 'GET' && skill.source !== 'custom') throw new Refused('shared');
    if (below === undefined) return method === 'GET' ? this.#skill(skill, asked) : this.#remove(skill);
    if (version !== undefined) return this.#version(skill, decodeURIComponent(version), asked);
    return method === 'GET' ? this.#listVersions(skill, asked) : this.#addVersion(skill, asked);
  }

  #noPath({ method, path }: Asked): never {
    this.violations.push(`${method} ${path}: not a path of the contract`);
    throw new Refused('path');
  }

  #listSkills({ dialect }: Asked): FakeAnswer {
    const records = this.skills.map((skill) => skillRecord(skill, dialect, this.quirks));
    return { status: 200, document: inList('skills', ordered(records, this.quirks), this.quirks) };
  }

  #listVersions({ versions }: FakeSkill, { dialect }: Asked): FakeAnswer {
    const records = versions.map((version) => versionRecord(version, dialect, this.quirks));
    return { status: 200, document: inList('versions', ordered(records, this.quirks), this.quirks) };
  }

  #skill(skill: FakeSkill, { dialect }: Asked): FakeAnswer {
    return { status: 200, document: inEnvelope('skill', skillRecord(skill, dialect, this.quirks), this.quirks) };
  }

  async #create(asked: Asked): Promise<FakeAnswer> {
    const skill = this.#addSkill(slugOf(await this.#parts(asked, this.quirks.skillsField)), 'custom');
    const { isCreationShort, idAt, createdCode } = this.quirks;
    const short = idAt === 'id' ? { id: skill.id } : { skill_id: skill.id };
    const record = isCreationShort ? short : skillRecord(skill, asked.dialect, this.quirks);
    return { status: createdCode, document: inEnvelope('skill', record, this.quirks) };
  }

  async #addVersion(skill: FakeSkill, asked: Asked): Promise<FakeAnswer> {
    if (slugOf(await this.#parts(asked, this.quirks.skillsField)) !== skill.name) throw new Refused('another name');
    const version = this.#newVersion();
    const kept = this.skills.find(({ id }) => id === skill.id);
    if (kept !== undefined) kept.versions = [...kept.versions, version];
    const record = versionRecord(version, asked.dialect, this.quirks);
    return { status: this.quirks.createdCode, document: inEnvelope('skill_version', record, this.quirks) };
  }

  #version(skill: FakeSkill, reference: string, { method, dialect }: Asked): FakeAnswer {
    const version = this.#findVersion(skill, reference, dialect);
    if (method === 'GET') {
      const record = versionRecord(version, dialect, this.quirks);
      return { status: 200, document: inEnvelope('skill_version', record, this.quirks) };
    }
    const kept = this.skills.find(({ id }) => id === skill.id);
    if (kept !== undefined) kept.versions = kept.versions.filter((one) => one !== version);
    return { status: this.quirks.deletedCode };
  }

  #findVersion({ versions }: FakeSkill, reference: string, dialect: Dialect): FakeVersion {
    const isLatest = reference === 'latest' && dialect === 'general';
    const found = isLatest ? versions.at(-1) : versions.find((one) => nameOf(one, dialect) === reference);
    if (found === undefined) throw new Refused('no such version');
    return found;
  }

  #remove(skill: FakeSkill): FakeAnswer {
    this.skills.splice(
      this.skills.findIndex(({ id }) => id === skill.id),
      1,
    );
    return { status: this.quirks.deletedCode };
  }

  async #upload(asked: Asked): Promise<FakeAnswer> {
    if (!asked.betas.has('files-api-2025-04-14')) throw new Refused('beta');
    const [part, ...more] = await this.#parts(asked, this.quirks.fileField);
    if (part === undefined || more.length > 0) throw new Refused('one file');
    const id = `file_${this.#number()}`;
    this.files.set(id, part);
    return { status: this.quirks.createdCode, document: inEnvelope('file', fileRecord(id, this.quirks), this.quirks) };
  }

  #agent({ betas, body }: Asked): FakeAnswer {
    if (!betas.has('managed-agents-2026-04-01')) throw new Refused('beta');
    this.agents.push(JSON.parse(body));
    return { status: this.quirks.createdCode };
  }

  #message({ betas, body }: Asked): FakeAnswer {
    const fault = messageFault(JSON.parse(body), betas, {
      mediaTypeOf: (id) => this.files.get(id)?.mediaType,
      hasVersion: (id, version) => {
        const skill = this.skills.find((one) => one.id === id);
        if (version === 'latest') return skill !== undefined;
        return skill?.versions.some((one) => one.id === version || one.epoch === version) ?? false;
      },
    });
    if (fault !== undefined) throw new Refused(fault);
    return { status: 200 };
  }

  async #parts({ headers, bytes }: Asked, field: string): Promise<readonly SentPart[]> {
    const type = headers['content-type'] ?? '';
    if (!type.startsWith('multipart/form-data;')) throw new Refused('no form');
    // oxlint-disable-next-line typescript/no-deprecated -- forms of tests are small
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    const parts: SentPart[] = [];
    for (const [name, part] of form) {
      if (name !== field || typeof part === 'string') throw new Refused(`the field ${name}`);
      parts.push({ name: part.name, mediaType: part.type.split(';')[0] ?? '', text: await part.text() });
    }
    if (field === this.quirks.skillsField) this.uploads.push(parts);
    return parts;
  }

  #addSkill(name: string, source: string): FakeSkill {
    const skill = { id: `skill_${this.#number()}`, name, source, versions: [this.#newVersion()] };
    this.skills.push(skill);
    return skill;
  }

  #newVersion(): FakeVersion {
    const number = this.#number();
    const epoch = String((1_790_000_000 + number) * this.quirks.epochUnit);
    return { id: `${this.quirks.versionPrefix}${number}`, epoch };
  }

  #find(id: string): FakeSkill {
    const skill = this.skills.find((one) => one.id === id);
    if (skill === undefined) throw new Refused('no such skill');
    return skill;
  }

  #number(): number {
    this.#made += 1;
    return this.#made;
  }
}

/** The name of the front matter, else of the one folder at the top. */
function slugOf(parts: readonly SentPart[]): string {
  const folders = new Set(parts.map(({ name }) => name.split('/')[0] ?? ''));
  const [folder = ''] = folders;
  const instructions = parts.find(({ name }) => name === `${folder}/SKILL.md`)?.text;
  if (folders.size !== 1 || instructions === undefined) throw new Refused('one folder with SKILL.md');
  return /^---\n(?:.*\n)*?name: *(\S+)\n(?:.*\n)*?---/.exec(instructions)?.[1] ?? folder;
}

export async function startFakePlatform(given: Partial<PlatformQuirks> = {}): Promise<FakePlatform> {
  const quirks = { ...PLAIN_PLATFORM, ...given };
  const platform = new Platform(quirks);
  const server = await startFakeServer(quirks, (request) => platform.answer(request));
  const { skills, uploads, files, agents, violations } = platform;
  return Object.assign(server, { quirks, skills, uploads, files, agents, violations });
}
