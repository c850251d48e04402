// The management API of a storage node, over real servers. Source: the storage-node management API, "Endpoints" and
// "Errors". Where it shows no status or body, this answers as the usual storage node does.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { formatLsn, parseLsn } from '../../model/lsn.ts';
import { json, type ManagerAnswer } from '../api/api-answer.ts';
import { isJson, parseBody, problem, type LabRequest } from '../http-server.ts';
import type { Ancestor } from './ancestor.ts';
import type { Creation, NewBranch, TenantRemoval, Tenant } from './tenant.ts';

export interface StorageApiOptions {
  readonly tenant: Tenant;
  /** 18 */
  readonly pgMajor: number;
}

/** A creation that takes longer goes on, and its request gets 503: the caller has to repeat it. */
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

async function records(options: StorageApiOptions): Promise<readonly TimelineRecord[]> {
  const { tenant } = options;
  const branches = tenant.list().map(({ branch, isDurable }) => recordOf(branch, isDurable, options));
  return Promise.all([recordOf(tenant.root, true, options), ...branches]);
}

type TimelineRecord = Awaited<ReturnType<typeof recordOf>>;

async function recordOf(branch: Ancestor, isDurable: boolean, { tenant, pgMajor }: StorageApiOptions) {
  return {
    tenant_id: tenant.id,
    timeline_id: branch.id,
    ancestor_timeline_id: branch.ancestor?.id ?? null,
    ancestor_lsn: formatLsn(branch.beginsAt),
    last_record_lsn: formatLsn(await branch.lastPosition()),
    pg_version: pgMajor,
    // `Loading`: visible, and not durable yet.
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
  const { tenant, pgMajor } = options;
  if (pg !== undefined && pg !== null && pg !== pgMajor) {
    return problem(406, `pg_version is ${pg}, and a branch of this tenant has its parent's: ${pgMajor}`);
  }
  const wanted: NewBranch = { id, ancestorId, startAt: parseLsn(lsn ?? '') };
  const late = new AbortController();
  const tooLong = delay(PATIENCE_MS, undefined, { signal: late.signal }).catch(() => undefined);
  const made = await Promise.race([tenant.create(wanted), tooLong]);
  late.abort();
  if (made === undefined) return problem(503, `the timeline ${id} is not durable yet: send the same request again`);
  if (made.kind !== 'created') return problem(REFUSED[made.kind], made.text);
  const listed = tenant.find(id);
  return listed === undefined
    ? problem(404, 'deleted')
    : json(201, await recordOf(listed.branch, listed.isDurable, options));
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
