// The management API of a storage node, over real servers. Source: the storage-node management API, "Endpoints" and
// "Errors". Where it shows no status or body, this answers as the usual storage node does.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { formatLsn, parseLsn } from '../../model/lsn.ts';
import { json, type ManagerAnswer } from '../api/api-answer.ts';
import { isJson, parseBody, problem, type LabRequest } from '../http-server.ts';
import type { Creation, BranchListing, NewBranch, TenantRemoval, Tenant } from './tenant.ts';

export interface StorageApiOptions {
  readonly tenant: Tenant;
  /** 18 */
  readonly pgMajor: number;
  /** A creation that takes longer goes on, and its request gets 503: the caller has to repeat it. Default 5 s. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 5_000;

export function storageApi(options: StorageApiOptions): (asked: LabRequest) => Promise<ManagerAnswer> {
  const { tenant } = options;
  const timelines = `/v1/tenant/${tenant.id}/timeline`;
  return async (asked) => {
    const { method, path } = asked;
    if (path === '/v1/tenant') return allow(method, { GET: async () => json(200, [{ id: tenant.id }]) });
    if (path === timelines) return allow(method, { GET: async () => json(200, await records(options)) });
    // The path of a creation ends with a slash, the path of the list does not.
    if (path === `${timelines}/`) return allow(method, { POST: () => create(asked, options) });
    const id = path.startsWith(`${timelines}/`) ? path.slice(timelines.length + 1).toLowerCase() : undefined;
    if (id === undefined)
      return problem(404, path.startsWith('/v1/tenant/') ? 'there is no such tenant' : 'no such path');
    return allow(method, {
      GET: async () => {
        const found = (await records(options)).find(({ timeline_id: one }) => one === id);
        return found === undefined ? problem(404, `there is no timeline ${id}`) : json(200, found);
      },
      DELETE: async () => removed(await tenant.remove(id)),
    });
  };
}

async function allow(
  method: string,
  ways: Readonly<Record<string, () => Promise<ManagerAnswer>>>,
): Promise<ManagerAnswer> {
  const answer = ways[method === 'HEAD' ? 'GET' : method];
  if (answer !== undefined) return answer();
  const allowed = Object.keys(ways).join(', ');
  return { ...problem(405, `use ${allowed}`), allow: allowed };
}

async function records({ tenant, pgMajor }: StorageApiOptions): Promise<readonly TimelineRecord[]> {
  const root = tenant.root.lastPosition().then((position) => ({
    tenant_id: tenant.id,
    timeline_id: tenant.root.id,
    ancestor_timeline_id: null,
    ancestor_lsn: '0/0',
    last_record_lsn: formatLsn(position),
    pg_version: pgMajor,
    state: 'Active' as const,
  }));
  const branches = tenant.list().map((listed) => recordOf(listed, tenant.id, pgMajor));
  return Promise.all([root, ...branches]);
}

interface TimelineRecord {
  readonly tenant_id: string;
  readonly timeline_id: string;
  readonly ancestor_timeline_id: string | null;
  readonly ancestor_lsn: string;
  readonly last_record_lsn: string;
  readonly pg_version: number;
  /** `Loading`: visible, and not durable yet. */
  readonly state: 'Active' | 'Loading';
}

async function recordOf({ branch, isDurable }: BranchListing, tenant: string, pg: number): Promise<TimelineRecord> {
  return {
    tenant_id: tenant,
    timeline_id: branch.id,
    ancestor_timeline_id: branch.ancestor.id,
    ancestor_lsn: formatLsn(branch.beginsAt),
    last_record_lsn: formatLsn(await branch.lastPosition()),
    pg_version: pg,
    state: isDurable ? 'Active' : 'Loading',
  };
}

/** Kept in lower case: the same id. */
const hexId = z
  .string()
  .regex(/^[0-9a-f]{32}$/i, 'must be 32 hexadecimal characters')
  .toLowerCase();

const creation = z.object({
  new_timeline_id: hexId,
  ancestor_timeline_id: hexId,
  ancestor_start_lsn: z
    .string()
    .refine((text) => parseLsn(text) !== undefined, 'must be a WAL position: <hex>/<hex>')
    .nullish(),
  pg_version: z.int().nullish(),
});

async function create(asked: LabRequest, options: StorageApiOptions): Promise<ManagerAnswer> {
  if (!isJson(asked)) return problem(415, 'Content-Type must be application/json');
  const parsed = creation.safeParse(parseBody(asked));
  if (!parsed.success) return problem(400, z.prettifyError(parsed.error));
  const {
    new_timeline_id: id,
    ancestor_timeline_id: ancestorId,
    ancestor_start_lsn: lsn,
    pg_version: pg,
  } = parsed.data;
  const { tenant, pgMajor, patienceMs = PATIENCE_MS } = options;
  if (pg !== undefined && pg !== null && pg !== pgMajor) {
    return problem(406, `pg_version is ${pg}, and a branch of this tenant has its parent's: ${pgMajor}`);
  }
  const wanted: NewBranch = { id, ancestorId, startAt: parseLsn(lsn ?? '') };
  const late = new AbortController();
  const tooLong = delay(patienceMs, undefined, { signal: late.signal }).catch(() => undefined);
  const made = await Promise.race([tenant.create(wanted), tooLong]);
  late.abort();
  if (made === undefined) return problem(503, `the timeline ${id} is not durable yet: send the same request again`);
  if (made.kind !== 'created') return problem(REFUSED[made.kind], made.text);
  const listed = tenant.find(id);
  return listed === undefined ? problem(404, 'deleted') : json(201, await recordOf(listed, tenant.id, pgMajor));
}

const REFUSED: Readonly<Record<Exclude<Creation['kind'], 'created'>, number>> = {
  different: 409,
  impossible: 406,
  not_yet: 503,
  failed: 500,
};

const KEPT: Readonly<Record<Exclude<TenantRemoval['kind'], 'removed'>, number>> = {
  unknown: 404,
  root: 403,
  has_children: 412,
  being_created: 409,
};

function removed(removal: TenantRemoval): ManagerAnswer {
  return removal.kind === 'removed' ? json(200, null) : problem(KEPT[removal.kind], removal.text);
}
