// The console's API: branches of one project. Source: the console API, "Endpoints" and "Authentication". Where it shows
// no status or body, this answers as the usual console does.
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { ENDPOINT_TYPES } from '../../model/branch.ts';
import { formatLsn } from '../../model/lsn.ts';
import { json, type ManagerAnswer } from '../api/api-answer.ts';
import { isJson, parseBody, type HttpRoute, type LabRequest } from '../http-server.ts';
import type { Project, ProjectBranch, ProjectCreation } from './project.ts';

export function consoleApi(project: Project, apiKey: string): HttpRoute {
  return async (asked) => {
    const { method, path, headers } = asked;
    if (!isKey(headers.authorization, apiKey)) return refused(401, 'the API key is missing or wrong');
    if (path !== `/api/v2/projects/${project.id}/branches`) return refused(404, 'there is no such project or path');
    if (method === 'GET' || method === 'HEAD') {
      return json(200, { branches: project.list().map((branch) => recordOf(branch, project)) });
    }
    if (method === 'POST') return create(asked, project);
    return { ...refused(405, 'use GET or POST'), allow: 'GET, POST' };
  };
}

function isKey(authorization: string | undefined, apiKey: string): boolean {
  // HTTP compares the name of a scheme without its case.
  const text = (authorization ?? '').replace(/^bearer /i, 'Bearer ');
  const [given, wanted] = [text, `Bearer ${apiKey}`].map((one) => Buffer.from(one));
  return (
    given !== undefined && wanted !== undefined && given.length === wanted.length && timingSafeEqual(given, wanted)
  );
}

const creation = z.object({
  branch: z
    .object({
      name: z.string().min(1).max(256).nullish(),
      parent_id: z.string().nullish(),
      init_source: z.literal('schema-only').nullish(),
    })
    .nullish(),
  endpoints: z.array(z.object({ type: z.enum(ENDPOINT_TYPES) })).nullish(),
});

async function create(asked: LabRequest, project: Project): Promise<ManagerAnswer> {
  if (!isJson(asked)) return refused(415, 'Content-Type must be application/json');
  const parsed = creation.safeParse(parseBody(asked));
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error));
  const { branch, endpoints } = parsed.data;
  const types = new Set((endpoints ?? []).map(({ type }) => type));
  const made = await project.create({
    name: branch?.name ?? undefined,
    parentId: branch?.parent_id ?? undefined,
    isSchemaOnly: branch?.init_source === 'schema-only',
    // Here a branch is a server.
    endpoints: types.size === 0 ? ['read_write'] : [...types],
  });
  if (made.kind !== 'created') return refused(STATUS[made.kind], made.text);
  return json(201, { branch: recordOf(made.branch, project), operations: [] });
}

const STATUS: Readonly<Record<Exclude<ProjectCreation['kind'], 'created'>, number>> = {
  no_parent: 404,
  name_taken: 409,
  failed: 500,
};

function recordOf(branch: ProjectBranch, project: Project): object {
  const { id, name, parentId, timelineId, createdAt } = branch;
  const beginsAt = project.tenant.find(timelineId)?.branch.beginsAt;
  return {
    id,
    project_id: project.id,
    ...(parentId === undefined ? {} : { parent_id: parentId }),
    ...(beginsAt === undefined ? {} : { parent_lsn: formatLsn(beginsAt) }),
    name,
    default: parentId === undefined,
    current_state: project.isReady(branch) ? 'ready' : 'init',
    created_at: createdAt.toISOString(),
    endpoints: branch.endpoints.map((type) => {
      const server = project.serverOf(branch, type);
      return { type, ...(server === undefined ? {} : { host: server.host, port: server.port }) };
    }),
  };
}

function refused(status: number, message: string): ManagerAnswer {
  return json(status, { message });
}
