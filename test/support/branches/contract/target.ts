// A server under the contract suite, and how the suite speaks to it: by plain HTTP, as any client does.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../../src/model/instant.ts';
import { until } from '../../waiting/until.ts';

export interface ContractTarget {
  readonly storageUrl: string;
  readonly tenant: string;
  readonly pgVersion: number;
  readonly consoleUrl: string;
  readonly project: string;
  readonly apiKey: string;
  /** For the pauses of our clients. */
  readonly clock: Clock;
  stop(): Promise<void>;
}

export interface Reply {
  /** 0: no answer. */
  readonly status: number;
  readonly body: unknown;
}

export interface TimelineRecord {
  readonly timeline_id: string;
  readonly ancestor_timeline_id?: string | null;
  readonly ancestor_lsn?: string;
  readonly last_record_lsn: string;
}

export interface BranchRecord {
  readonly id: string;
  readonly name: string;
  readonly parent_id?: string | null;
  readonly parent_lsn?: string;
}

/** A server that makes real databases takes its time, and machines may be busy. */
const WITHIN_MS = 120_000;
const JSON_TYPE = { 'content-type': 'application/json' };

export const newId = (): string => randomBytes(16).toString('hex');

async function send(method: string, url: string, headers: Record<string, string>, body?: unknown): Promise<Reply> {
  try {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url, { method, headers, ...init, signal: AbortSignal.timeout(WITHIN_MS) });
    return { status: response.status, body: parsed(await response.text()) };
  } catch {
    return { status: 0, body: undefined };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}

export function storage(on: ContractTarget, method: string, path: string, body?: unknown): Promise<Reply> {
  return send(method, `${on.storageUrl}${path}`, method === 'POST' ? JSON_TYPE : {}, body);
}

/** Below the tenant's timelines: an empty path, `/`, or `/ID`. */
export function timeline(on: ContractTarget, method: string, path: string, body?: unknown): Promise<Reply> {
  return storage(on, method, `/v1/tenant/${on.tenant}/timeline${path}`, body);
}

export function branches(
  on: ContractTarget,
  method: string,
  body?: unknown,
  headers: Record<string, string> = { authorization: `Bearer ${on.apiKey}`, ...JSON_TYPE },
): Promise<Reply> {
  return send(method, `${on.consoleUrl}/api/v2/projects/${on.project}/branches`, headers, body);
}

export async function timelines(on: ContractTarget): Promise<readonly TimelineRecord[]> {
  const { body } = await timeline(on, 'GET', '');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests check the fields
  return body as readonly TimelineRecord[];
}

export async function rootOf(on: ContractTarget): Promise<TimelineRecord> {
  const root = (await timelines(on)).find(
    (one) => one.ancestor_timeline_id === undefined || one.ancestor_timeline_id === null,
  );
  if (root === undefined) throw new Error('there is no root timeline');
  return root;
}

export interface Wanted {
  readonly new_timeline_id: string;
  readonly ancestor_timeline_id: string;
  readonly ancestor_start_lsn?: string;
  readonly pg_version: number;
}

/** Sends the same request again until one of these statuses comes. */
export async function createUntil(on: ContractTarget, wanted: Wanted, statuses: readonly number[]): Promise<number> {
  const answered = async (): Promise<number | undefined> => {
    const { status } = await timeline(on, 'POST', '/', wanted);
    return statuses.includes(status) ? status : undefined;
  };
  return await until(`one of ${statuses.join()} for ${wanted.new_timeline_id}`, answered, WITHIN_MS);
}

const children = new WeakMap<ContractTarget, Promise<Wanted>>();

/** A branch of the root at its position, durable, for all tests that only look at one. */
export function childOf(on: ContractTarget): Promise<Wanted> {
  const made = children.get(on) ?? createChild(on);
  children.set(on, made);
  return made;
}

export async function createChild(on: ContractTarget, ancestor?: Wanted): Promise<Wanted> {
  const parent = ancestor === undefined ? await rootOf(on) : await recordOf(on, ancestor.new_timeline_id);
  const wanted = {
    new_timeline_id: newId(),
    ancestor_timeline_id: parent.timeline_id,
    ancestor_start_lsn: parent.last_record_lsn,
    pg_version: on.pgVersion,
  };
  await createUntil(on, wanted, [201]);
  return wanted;
}

export async function recordOf(on: ContractTarget, id: string): Promise<TimelineRecord> {
  const { body } = await timeline(on, 'GET', `/${id}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests check the fields
  return body as TimelineRecord;
}

export async function listed(on: ContractTarget): Promise<readonly BranchRecord[]> {
  const { body } = await branches(on, 'GET');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests check the fields
  return (body as { readonly branches: readonly BranchRecord[] }).branches;
}

/** Creates the branch and waits for it in the list. A request that may have got lost is sent again. */
export async function createListed(on: ContractTarget, branch: object, endpoints?: object[]): Promise<BranchRecord> {
  const name = `contract-${newId().slice(0, 8)}`;
  let looks = 0;
  const seen = async (): Promise<BranchRecord | undefined> => {
    const isAccepted =
      looks % 5 !== 0 || (await branches(on, 'POST', { branch: { name, ...branch }, endpoints })).status < 300;
    looks = isAccepted ? looks + 1 : 0;
    return (await listed(on)).find((one) => one.name === name);
  };
  return await until(`the branch ${name} in the list`, seen, WITHIN_MS);
}

const consoleBranches = new WeakMap<ContractTarget, Promise<BranchRecord>>();

/** A branch of the default branch with both endpoints, for all tests that only look at one. */
export function consoleBranchOf(on: ContractTarget): Promise<BranchRecord> {
  const made = consoleBranches.get(on) ?? createListed(on, {}, [{ type: 'read_write' }, { type: 'read_only' }]);
  consoleBranches.set(on, made);
  return made;
}
