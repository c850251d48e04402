// The sandbox's platform behind another face: a seed chooses statuses, envelopes, names of fields and the order of
// lists wherever contract 3 is silent.
import { z } from 'zod';
import { startFakeServer } from '../branches/fake-server.ts';
import type { FakeAnswer, FakeRequest } from '../branches/fake-server.ts';
import { ordered } from '../branches/quirks.ts';
import type { PlatformTarget } from '../platform/contract/target.ts';
import { fileRecord, inEnvelope, inList, skillRecord, versionRecord } from '../platform/fake-records.ts';
import type { PlatformQuirks } from '../platform/quirks.ts';
import { EagerClock } from '../waiting/eager-clock.ts';
import type { PlatformLab } from './platform-lab.ts';

const skill = z.object({
  skill_id: z.string(),
  name: z.string(),
  latest_version_id: z.string().optional(),
  source: z.object({ type: z.string() }),
});
const version = z.object({ version: z.string(), created_at: z.string() });
const file = z.object({ file_id: z.string() });
const list = z.object({ data: z.array(z.unknown()) });

/** `lab` outlives it. `apiKeyFile` holds the key of the quirks. */
export async function quirkyTarget(
  lab: PlatformLab,
  quirks: PlatformQuirks,
  apiKeyFile: string,
): Promise<PlatformTarget> {
  const { authHeader, apiKey, betaHeader } = quirks;
  const { skillsField, fileField, messageCheck } = lab.platform;
  const asked = new Map<string, number>();
  const server = await startFakeServer(quirks, async (request) => {
    const passing = passingTrouble(request, asked, quirks);
    if (passing !== undefined) return { status: passing };
    if (request.headers[authHeader.toLowerCase()] !== apiKey) return { status: 401 };
    const { method, path, headers, bytes } = request;
    const response = await fetch(`${lab.platform.url}${path}`, {
      method,
      headers: {
        'x-api-key': lab.key,
        'content-type': headers['content-type'] ?? 'text/plain',
        [lab.platform.betaHeader]: String(headers[betaHeader.toLowerCase()] ?? ''),
      },
      ...(bytes.length === 0 ? {} : { body: new Uint8Array(bytes) }),
    });
    return disguised(request, response.status, await response.json(), quirks);
  });
  return {
    url: server.url,
    authHeader,
    apiKeyFile,
    apiKey,
    betaHeader,
    skillsField,
    fileField,
    messageCheck: messageCheck.replace(lab.platform.url, server.url),
    clock: new EagerClock(),
    stop: () => server.stop(),
  };
}

/** Before the first read of each path. */
function passingTrouble(
  { method, path }: FakeRequest,
  asked: Map<string, number>,
  { beforeReads }: PlatformQuirks,
): number | undefined {
  if (method !== 'GET') return undefined;
  const seen = asked.get(path) ?? 0;
  asked.set(path, seen + 1);
  return beforeReads[seen];
}

function disguised({ method }: FakeRequest, status: number, document: unknown, quirks: PlatformQuirks): FakeAnswer {
  if (status >= 400) return { status: status === 401 ? 401 : quirks.refusedCode };
  if (method === 'DELETE') return { status: quirks.deletedCode };
  const code = method === 'POST' ? quirks.createdCode : status;
  const { data: listed } = list.safeParse(document);
  if (listed === undefined) return { status: code, document: record(document, quirks, true) };
  const records = listed.data.map((entry) => record(entry, quirks, false));
  return { status: code, document: inList('skills', ordered(records, quirks), quirks) };
}

/** A document of another kind stays as it is. */
function record(document: unknown, quirks: PlatformQuirks, isAlone: boolean): object {
  const put = (name: string, fields: object): object =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an envelope is an object
    isAlone ? (inEnvelope(name, fields, quirks) as object) : fields;
  const { data: ofSkill } = skill.safeParse(document);
  if (ofSkill !== undefined) {
    const { skill_id: id, name, latest_version_id: latest, source } = ofSkill;
    const versions = latest === undefined ? [] : [{ id: latest, epoch: latest }];
    return put('skill', skillRecord({ id, name, source: source.type, versions }, 'general', quirks));
  }
  const { data: ofVersion } = version.safeParse(document);
  if (ofVersion !== undefined) {
    const named = { id: ofVersion.version, epoch: ofVersion.version };
    return put('skill_version', versionRecord(named, 'general', quirks));
  }
  const { data: ofFile } = file.safeParse(document);
  return ofFile === undefined ? z.looseObject({}).parse(document) : put('file', fileRecord(ofFile.file_id, quirks));
}
