// Durable creation of a branch on a storage node. Position and id are chosen once and written down before the first
// request. Every request has the same bytes: a position that is left out would mean the parent's position of that
// moment, and a repetition would differ. A command that dies, and is run again, continues with the same timeline.
import { randomBytes } from 'node:crypto';
import type { Branch } from '../model/branch.ts';
import { parseLsn } from '../model/lsn.ts';
import { ApiError } from '../http/request.ts';
import type { StorageClient, Timeline } from '../branches/api/storage-client.ts';
import { attemptsUntil, type Attempts, type PauseOptions } from './attempts.ts';
import type { BranchWish, CreationResult } from './branch-wish.ts';
import { isSameId, withNames, type TimelineNames } from './locked-names.ts';
import type { NamedTimeline } from '../branches/names-file.ts';

export interface StorageSource {
  readonly client: StorageClient;
  readonly tenant: string;
  readonly namesFile: string;
  /** The major version of the database, for new timelines. */
  readonly pgVersion: number;
}

/** Never rejects for a fault of the API or of the names file. The last request may end a second after the deadline. */
export async function createTimeline(
  wish: BranchWish,
  source: StorageSource,
  pauses: PauseOptions,
): Promise<CreationResult> {
  const { onRetry = () => {}, waitMs, name } = wish;
  if (/^[0-9a-f]{32}$/i.test(name)) return refused('the name has the form of a timeline id: choose another name');
  if (wish.lsn !== undefined && parseLsn(wish.lsn) === undefined) return refused('the position is no <hex>/<hex>');
  const deadline = pauses.clock.now() + waitMs;
  const attempts = attemptsUntil(deadline, { ...pauses, onRetry });
  try {
    const created = await withNames(source, attempts, (names) =>
      new TimelineCreator({ wish, source, names, attempts, leftMs: () => deadline - pauses.clock.now() }).run(),
    );
    return created ?? { kind: 'unfinished', why: `another command changes ${source.namesFile}` };
  } catch (error) {
    if (error instanceof ApiError) return failed(error.message);
    throw error;
  }
}

interface CreationTask {
  readonly wish: BranchWish;
  readonly source: StorageSource;
  readonly names: TimelineNames;
  readonly attempts: Attempts;
  /** Until the deadline. Milliseconds. */
  readonly leftMs: () => number;
}

/** For the first request. A node that needs longer gets longer, as far as there is time. Milliseconds. */
const FIRST_REQUEST_MS = 10_000;
const GROWTH = 3;
/** For the last request, which begins at the deadline. Milliseconds. */
const LEAST_REQUEST_MS = 1000;
/** A node may answer 409 while it creates a timeline that it does not list yet. Milliseconds. */
const CONFLICT_PATIENCE_MS = 30_000;

class TimelineCreator {
  readonly #task: CreationTask;

  constructor(task: CreationTask) {
    this.#task = task;
  }

  async run(): Promise<CreationResult> {
    const { wish, names } = this.#task;
    const known = names.find(wish.name);
    if (known === undefined) return await this.#begin();
    const difference = differenceOf(known, wish);
    if (known.isPending) {
      if (difference === undefined) return await this.#finish(known);
      const same = `--parent ${known.ancestorId} --at ${known.lsn}`;
      return refused(`its unfinished creation has ${difference}: finish it with ${same}, then delete it`);
    }
    // Its timeline may have been deleted by another program.
    if ((await this.#reading(() => this.#task.source.client.timeline(known.id))) === undefined)
      return await this.#begin();
    if (difference !== undefined) return refused(`a branch of this name exists, with ${difference}`);
    return { kind: 'created', branch: branchOf(known), isNew: false };
  }

  async #begin(): Promise<CreationResult> {
    const { wish, names, source } = this.#task;
    const parent = await this.#parent();
    if ('kind' in parent) return parent;
    const lsn = wish.lsn ?? parent.lastRecordLsn;
    if (lsn === undefined)
      return refused('the storage node does not report the position of the parent: give it with --at');
    const { pgVersion } = source;
    const entry = { name: wish.name, id: newId(), ancestorId: parent.id, lsn, pgVersion, isPending: true };
    await names.save(entry);
    return await this.#finish(entry);
  }

  async #parent(): Promise<Timeline | CreationResult> {
    const { wish, source } = this.#task;
    const { parent } = wish;
    if (parent !== undefined) {
      const found = await this.#reading(() => source.client.timeline(parent.id));
      return found ?? refused(`the parent ${parent.id} does not exist any more`);
    }
    const all = await this.#reading(() => source.client.timelines());
    const [root, another] = all.filter(({ ancestorId }) => ancestorId === undefined);
    if (root === undefined) return refused('the tenant has no root timeline: name the parent with --parent');
    return another === undefined ? root : refused('the tenant has several roots: name the parent with --parent');
  }

  /** Sends the request of the entry until the timeline lasts. */
  async #finish(entry: NamedTimeline): Promise<CreationResult> {
    const { names, source, attempts, leftMs } = this.#task;
    let current = entry;
    let limitMs = FIRST_REQUEST_MS;
    /** The time that was left at the first of the conflicts in a row. Milliseconds. */
    let leftAtConflictMs: number | undefined;
    for (;;) {
      const requestMs = Math.max(LEAST_REQUEST_MS, Math.min(limitMs, leftMs()));
      const answer = await source.client.createTimeline(current, requestMs);
      limitMs *= GROWTH;
      let why = 'why' in answer ? answer.why : '';
      let isConflict = false;
      if (answer.kind === 'durable') {
        const lasting = { ...current, isPending: false };
        await names.save(lasting);
        return { kind: 'created', branch: branchOf(lasting), isNew: true };
      }
      if (answer.kind === 'impossible') return await this.#giveUp(current, why);
      if (answer.kind === 'refused') return failed(why);
      if (answer.kind === 'conflict') {
        const seen = await this.#state(current);
        isConflict = seen === 'absent';
        leftAtConflictMs = isConflict ? (leftAtConflictMs ?? leftMs()) : undefined;
        const isStuck = leftAtConflictMs !== undefined && leftAtConflictMs - leftMs() >= CONFLICT_PATIENCE_MS;
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
  async #state({ id, ancestorId, lsn }: NamedTimeline): Promise<'ours' | 'another' | 'absent' | 'unknown'> {
    try {
      const seen = await this.#task.source.client.timeline(id);
      if (seen === undefined) return 'absent';
      const isOurs = isSameId(seen.ancestorId, ancestorId) && isSamePosition(seen.ancestorLsn, lsn);
      return isOurs ? 'ours' : 'another';
    } catch (error) {
      if (error instanceof ApiError) return 'unknown';
      throw error;
    }
  }

  /** Without its entry a timeline would have no name, so the entry goes only when there is no timeline. */
  async #giveUp(entry: NamedTimeline, why: string): Promise<CreationResult> {
    if ((await this.#state(entry)) === 'absent') await this.#task.names.drop(entry.id);
    const position = `the position ${entry.lsn} is ahead of the parent, or older than the node keeps`;
    return refused(`the storage node cannot create it (406). Maybe ${position}. ${why}`);
  }

  /** Repeats a GET while it may still succeed. Rejects with its last error. */
  async #reading<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof ApiError) || !isPassing(error)) throw error;
        if (!(await this.#task.attempts.again(error.message))) throw error;
      }
    }
  }
}

/** 16 bytes as hex. */
function newId(): string {
  return randomBytes(16).toString('hex');
}

export function isPassing({ failure, status }: ApiError): boolean {
  return ['timeout', 'unreachable', 'server_error'].includes(failure) || status === 429;
}

function differenceOf(entry: NamedTimeline, { parent, lsn }: BranchWish): string | undefined {
  if (parent !== undefined && !isSameId(parent.id, entry.ancestorId)) return `the parent ${entry.ancestorId}`;
  if (lsn !== undefined && !isSamePosition(lsn, entry.lsn)) return `the position ${entry.lsn}`;
  return undefined;
}

/** Storage nodes round a position up to the next record's alignment of 8 bytes. */
function isSamePosition(a: string | undefined, b: string): boolean {
  const [one, other] = [a === undefined ? undefined : parseLsn(a), parseLsn(b)];
  return one !== undefined && other !== undefined && Math.ceil(one / 8) === Math.ceil(other / 8);
}

function branchOf({ id, name, ancestorId, lsn }: NamedTimeline): Branch {
  return { id, name, parentId: ancestorId, parentLsn: lsn, lastRecordLsn: undefined, hasReadEndpoint: undefined };
}

function refused(why: string): CreationResult {
  return { kind: 'refused', why };
}

function failed(why: string): CreationResult {
  return { kind: 'failed', why };
}
