// Durable creation of a branch on a storage node. Position and id are chosen once and written down before the first
// request. Every request has the same bytes: a position that is left out would mean the parent's position of that
// moment, and a repetition would differ. A command that dies, and is run again, continues with the same timeline.
import { randomBytes } from 'node:crypto';
import { parseLsn } from '../model/lsn.ts';
import { ApiError } from '../http/request.ts';
import type { StorageClient, Timeline } from '../branches/api/storage-client.ts';
import { untilRead, type Attempts } from './attempts.ts';
import { failed, refused, type BranchWish, type CreationResult } from './branch-wish.ts';
import { isSameId, withNames, type TimelineNames } from './locked-names.ts';
import type { NamedTimeline } from '../branches/names-file.ts';

interface NamedSource {
  readonly tenant: string;
  readonly namesFile: string;
  /** The major version of the database, for new timelines. */
  readonly pgVersion: number;
}

/** Rejects with an ApiError. The last request may end a second after the deadline. */
export async function createTimeline(
  wish: BranchWish,
  client: StorageClient,
  source: NamedSource,
  attempts: Attempts,
): Promise<CreationResult> {
  if (/^[0-9a-f]{32}$/i.test(wish.name)) return refused('the name has the form of a timeline id: choose another name');
  if (wish.lsn !== undefined && parseLsn(wish.lsn) === undefined) return refused('the position is no <hex>/<hex>');
  const created = await withNames(source, attempts, (names) =>
    create({ wish, client, names, attempts, pgVersion: source.pgVersion }),
  );
  return created ?? { kind: 'unfinished', why: `another command changes ${source.namesFile}` };
}

interface CreationTask extends Pick<NamedSource, 'pgVersion'> {
  readonly wish: BranchWish;
  readonly client: StorageClient;
  readonly names: TimelineNames;
  readonly attempts: Attempts;
}

/** For the first request. A node that needs longer gets longer, as far as there is time. Milliseconds. */
const FIRST_REQUEST_MS = 10_000;
const GROWTH = 3;
/** For the last request, which begins at the deadline. Milliseconds. */
const LEAST_REQUEST_MS = 1000;
/** A node may answer 409 while it creates a timeline that it does not list yet. Milliseconds. */
const CONFLICT_PATIENCE_MS = 30_000;

async function create(task: CreationTask): Promise<CreationResult> {
  const { wish, names, client, attempts } = task;
  const known = names.all().find(({ name }) => name === wish.name);
  if (known === undefined) return await begin(task);
  const difference = differenceOf(known, wish);
  if (known.isPending) {
    if (difference === undefined) return await finish(known, task);
    const same = `--parent ${known.parentId} --at ${known.parentLsn}`;
    return refused(`its unfinished creation has ${difference}: finish it with ${same}, then delete it`);
  }
  // Its timeline may have been deleted by another program.
  if ((await untilRead(attempts, () => client.timeline(known.id))) === undefined) return await begin(task);
  if (difference !== undefined) return refused(`a branch of this name exists, with ${difference}`);
  return { kind: 'created', branch: known, isNew: false };
}

async function begin(task: CreationTask): Promise<CreationResult> {
  const { wish, names, pgVersion } = task;
  const parent = await parentFor(task);
  if ('kind' in parent) return parent;
  const parentLsn = wish.lsn ?? parent.lastRecordLsn;
  if (parentLsn === undefined)
    return refused('the storage node does not report the position of the parent: give it with --at');
  const entry = { name: wish.name, id: newId(), parentId: parent.id, parentLsn, pgVersion, isPending: true };
  await names.save(entry);
  return await finish(entry, task);
}

async function parentFor({ wish: { parent }, client, attempts }: CreationTask): Promise<Timeline | CreationResult> {
  if (parent !== undefined) {
    const found = await untilRead(attempts, () => client.timeline(parent.id));
    return found ?? refused(`the parent ${parent.id} does not exist any more`);
  }
  const all = await untilRead(attempts, () => client.timelines());
  const [root, another] = all.filter(({ parentId }) => parentId === undefined);
  if (root === undefined) return refused('the tenant has no root timeline: name the parent with --parent');
  return another === undefined ? root : refused('the tenant has several roots: name the parent with --parent');
}

/** Sends the request of the entry until the timeline lasts. */
async function finish(entry: NamedTimeline, task: CreationTask): Promise<CreationResult> {
  const { names, client, attempts } = task;
  let current = entry;
  let limitMs = FIRST_REQUEST_MS;
  /** The time that was left at the first of the conflicts in a row. Milliseconds. */
  let leftAtConflictMs: number | undefined;
  for (;;) {
    const requestMs = Math.max(LEAST_REQUEST_MS, Math.min(limitMs, attempts.leftMs()));
    const answer = await client.createTimeline(current, requestMs);
    limitMs *= GROWTH;
    if (answer.kind === 'durable') {
      const lasting = { ...current, isPending: false };
      await names.save(lasting);
      return { kind: 'created', branch: lasting, isNew: true };
    }
    let { why } = answer;
    let isConflict = false;
    if (answer.kind === 'impossible') return await giveUp(current, why, task);
    if (answer.kind === 'refused') return failed(why);
    if (answer.kind === 'conflict') {
      const seen = await stateOf(current, client);
      isConflict = seen === 'absent';
      leftAtConflictMs = isConflict ? (leftAtConflictMs ?? attempts.leftMs()) : undefined;
      const isStuck = leftAtConflictMs !== undefined && leftAtConflictMs - attempts.leftMs() >= CONFLICT_PATIENCE_MS;
      if (seen === 'another' || (isStuck && current === entry)) {
        if (current !== entry) return failed('the storage node has other timelines under two new ids in a row');
        current = { ...entry, id: newId() };
        leftAtConflictMs = undefined;
        await names.save(current);
        continue;
      }
      if (seen === 'ours') why = 'the storage node is creating it';
    } else leftAtConflictMs = undefined;
    if (await attempts.again(why)) continue;
    // The same request again would hardly have another answer.
    return isConflict ? failed(`${why}; it does not list the timeline ${current.id}`) : { kind: 'unfinished', why };
  }
}

/** The timeline behind a conflict. Some servers answer so while they create it. */
async function stateOf(
  { id, parentId, parentLsn }: NamedTimeline,
  client: StorageClient,
): Promise<'ours' | 'another' | 'absent' | 'unknown'> {
  try {
    const seen = await client.timeline(id);
    if (seen === undefined) return 'absent';
    const isOurs = isSameId(seen.parentId, parentId) && isSamePosition(seen.parentLsn, parentLsn);
    return isOurs ? 'ours' : 'another';
  } catch (error) {
    if (error instanceof ApiError) return 'unknown';
    throw error;
  }
}

/** Without its entry a timeline would have no name, so the entry goes only when there is no timeline. */
async function giveUp(entry: NamedTimeline, why: string, { client, names }: CreationTask): Promise<CreationResult> {
  if ((await stateOf(entry, client)) === 'absent') await names.drop(entry.id);
  const position = `the position ${entry.parentLsn} is ahead of the parent, or older than the node keeps`;
  return refused(`the storage node cannot create it (406). Maybe ${position}. ${why}`);
}

/** 16 bytes as hex. */
function newId(): string {
  return randomBytes(16).toString('hex');
}

function differenceOf(entry: NamedTimeline, { parent, lsn }: BranchWish): string | undefined {
  if (parent !== undefined && !isSameId(parent.id, entry.parentId)) return `the parent ${entry.parentId}`;
  if (lsn !== undefined && !isSamePosition(lsn, entry.parentLsn)) return `the position ${entry.parentLsn}`;
  return undefined;
}

/** Storage nodes round a position up to the next record's alignment of 8 bytes. */
function isSamePosition(a: string | undefined, b: string): boolean {
  const [one, other] = [a === undefined ? undefined : parseLsn(a), parseLsn(b)];
  return one !== undefined && other !== undefined && Math.ceil(one / 8) === Math.ceil(other / 8);
}
