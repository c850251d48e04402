// The tenant of the sandbox's storage node: its cluster as the root, and the branches, each with a server of its own.
// It creates and deletes them, whichever API asked for it.
import { messageOf } from '../http-server.ts';
import { formatLsn } from '../../model/lsn.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { PreparedServers } from '../postgres/prepare.ts';
import type { SandboxServer } from '../postgres/postgres-server.ts';
import type { Parameters, ServerRole } from '../postgres/server-types.ts';
import { TimelineBranch, type Ancestor, type Root } from './ancestor.ts';
import type { CopyUse } from './base-copy.ts';
import { emptyTables } from './empty-tables.ts';
import { findSeed, grow } from './grow.ts';

export interface NewBranch {
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly ancestorId: string;
  /** Undefined: the ancestor's position of now. */
  readonly startAt: number | undefined;
  /** The tables have no rows. */
  readonly isSchemaOnly?: boolean;
  /** With a standby. */
  readonly hasReader?: boolean;
  /** Called when the branch is in the list; it is not durable yet. */
  readonly onVisible?: () => void;
}

/** `impossible`: not even later. `not_yet`: perhaps later. `different`: the id belongs to another branch. */
export type Creation =
  | { readonly kind: 'created'; readonly branch: TimelineBranch }
  | { readonly kind: 'impossible' | 'not_yet' | 'different' | 'failed'; readonly text: string };

export type TenantRemoval =
  | { readonly kind: 'removed' }
  | { readonly kind: 'unknown' | 'root' | 'has_children' | 'being_created'; readonly text: string };

export interface TenantOptions {
  readonly id: string;
  readonly root: Root;
  readonly prepared: PreparedServers;
  /** Called when the list of branches has changed. A creation waits for it. */
  readonly onChange: () => Promise<void>;
  readonly onEvent: (kind: 'progress' | 'warning', text: string) => void;
}

export interface BranchListing {
  readonly branch: TimelineBranch;
  readonly reader: SandboxServer | undefined;
  readonly isDurable: boolean;
}

interface TenantBranch extends BranchListing {
  readonly asked: NewBranch;
  /** Undefined: it comes from another branch, which needs the copy as well. */
  readonly use: CopyUse | undefined;
  reader: SandboxServer | undefined;
  isDurable: boolean;
}

interface PendingBranch {
  readonly asked: NewBranch;
  readonly ends: Promise<Creation>;
}

const CLOSE_POLL_MS = 50;
const START_AGAIN_MS = 500;

export class Tenant {
  readonly id: string;
  readonly root: Root;
  readonly #options: TenantOptions;
  readonly #kept = new Map<string, TenantBranch>();
  readonly #pending = new Map<string, PendingBranch>();
  readonly #uses = new Set<CopyUse>();
  #isClosing = false;

  constructor(options: TenantOptions) {
    this.id = options.id;
    this.root = options.root;
    this.#options = options;
  }

  /** In the order of their creation, without the root. Those that are not durable yet are there too. */
  list(): readonly BranchListing[] {
    return [...this.#kept.values()];
  }

  find(id: string): BranchListing | undefined {
    return this.#kept.get(id);
  }

  /** The uses of base copies of the root. */
  uses(): readonly CopyUse[] {
    return [...this.#uses];
  }

  /** The same arguments again give the same outcome, also while the creation is in progress. Never rejects. */
  async create(asked: NewBranch): Promise<Creation> {
    const other: Creation = { kind: 'different', text: `the timeline ${asked.id} exists with other arguments` };
    const pending = this.#pending.get(asked.id);
    if (pending !== undefined) return isSame(asked, pending.asked) ? await pending.ends : other;
    const kept = this.#kept.get(asked.id);
    if (kept !== undefined) {
      const { branch } = kept;
      return isSame(asked, kept.asked, branch.beginsAt) ? { kind: 'created', branch } : other;
    }
    if (asked.id === this.root.id) return other;
    const ends = this.#create(asked)
      .catch((error: unknown): Creation => ({ kind: 'failed', text: messageOf(error) }))
      .finally(() => this.#pending.delete(asked.id));
    this.#pending.set(asked.id, { asked, ends });
    return await ends;
  }

  /** Rejects when its files cannot be removed. */
  async remove(id: string): Promise<TenantRemoval> {
    if (id === this.root.id) return { kind: 'root', text: 'the root timeline is the cluster itself' };
    if (this.#pending.has(id)) return { kind: 'being_created', text: 'the timeline is being created' };
    const kept = this.#kept.get(id);
    if (kept === undefined) return { kind: 'unknown', text: `there is no timeline ${id}` };
    const children = this.#childrenOf(id);
    if (children.length > 0) {
      return { kind: 'has_children', text: `the timeline has child timelines: ${children.join(', ')}` };
    }
    this.#kept.delete(id);
    if (kept.reader !== undefined) await this.#options.prepared.remove(kept.reader);
    await this.#options.prepared.remove(kept.branch.server);
    if (kept.use !== undefined) this.#uses.delete(kept.use);
    await this.#options.onChange();
    this.#options.onEvent('progress', `branch ${id} is deleted`);
    return { kind: 'removed' };
  }

  /** Ends the creations that are in progress. No other may begin. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#pending.size > 0) {
      const servers = [...this.#kept.values()].flatMap(({ branch, reader }) => [branch.server, reader ?? []].flat());
      await Promise.all(servers.map((server) => server.close()));
      await Promise.race([delay(CLOSE_POLL_MS), ...[...this.#pending.values()].map(({ ends }) => ends)]);
    }
  }

  #childrenOf(id: string): readonly string[] {
    const asked = [...this.#kept.values(), ...this.#pending.values()].map((one) => one.asked);
    return [...new Set(asked.filter(({ ancestorId }) => ancestorId === id).map((child) => child.id))];
  }

  async #create(asked: NewBranch): Promise<Creation> {
    const startedAt = performance.now();
    const { id, ancestorId } = asked;
    await this.#pending.get(ancestorId)?.ends;
    const ancestor = this.#ancestor(ancestorId);
    if (ancestor === undefined) return { kind: 'impossible', text: `there is no timeline ${ancestorId}` };
    const now = await ancestor.position();
    const position = asked.startAt ?? now.position;
    const lsn = formatLsn(position);
    if (position > now.position) {
      return { kind: 'not_yet', text: `${ancestorId} is at ${formatLsn(now.position)} and has not reached ${lsn}` };
    }
    if (position < ancestor.beginsAt) {
      return { kind: 'impossible', text: `${ancestorId} begins at ${formatLsn(ancestor.beginsAt)}, after ${lsn}` };
    }
    const origin = ancestor.originAt({ ...now, position });
    const seed = await findSeed(origin, ancestor.copies(position));
    if (seed === undefined) return { kind: 'impossible', text: `the WAL before ${lsn} is not kept` };
    if (this.#isClosing) return { kind: 'failed', text: 'the sandbox ends' };
    const use = origin.source === this.root.source ? { base: seed.base, upTo: origin.position } : undefined;
    if (use !== undefined) this.#uses.add(use);
    const server = await this.#options.prepared.add(this.#nameOf(id));
    const branch = new TimelineBranch(id, ancestor, server, { ...origin, position }, seed.lineage.timeline);
    const kept: TenantBranch = { asked, branch, use, reader: undefined, isDurable: false };
    this.#kept.set(id, kept);
    asked.onVisible?.();
    const { owner } = this.#options.prepared;
    try {
      const parameters = await ancestor.parameters();
      const growing = grow({ origin, seed, server, parameters, owner });
      await Promise.all([growing, this.#options.onChange()]);
      await this.#finish(kept);
      server.onExit(() => void this.#startAgain(kept, server, { kind: 'primary' }, parameters));
    } catch (error) {
      await this.#giveUp(kept, error);
      throw error;
    }
    kept.isDurable = true;
    const took = ((performance.now() - startedAt) / 1000).toFixed(1);
    this.#options.onEvent('progress', `branch ${id}: from ${lsn}, at ${server.host}:${server.port} (${took} s)`);
    return { kind: 'created', branch };
  }

  async #finish(kept: TenantBranch): Promise<void> {
    const { asked, branch } = kept;
    await branch.born();
    if (asked.isSchemaOnly === true) await emptyTables(branch.server, this.#options.prepared.superuser);
    if (asked.hasReader !== true) return;
    const { host, port, name } = branch.server;
    const reader = await this.#options.prepared.add(`${name}-ro`);
    kept.reader = reader;
    await reader.rebuildFrom(branch.server);
    const [role, parameters] = [{ kind: 'standby', upstream: { host, port } }, await branch.parameters()] as const;
    const outcome = await reader.start(role, parameters);
    if (outcome.kind === 'failed') throw new Error(`the standby of ${branch.id} did not start: ${outcome.log}`);
    reader.onExit(() => void this.#startAgain(kept, reader, role, parameters));
    await this.#options.onChange();
  }

  async #giveUp({ asked, branch, reader, use }: TenantBranch, error: unknown): Promise<void> {
    this.#kept.delete(asked.id);
    if (use !== undefined) this.#uses.delete(use);
    this.#options.onEvent('warning', `branch ${asked.id} was not created: ${messageOf(error)}`);
    if (reader !== undefined) await this.#options.prepared.remove(reader);
    await this.#options.prepared.remove(branch.server);
    await this.#options.onChange();
  }

  /** No manager watches over a branch. Only a server that died is started, not one that was ended. */
  async #startAgain(
    { asked }: TenantBranch,
    server: SandboxServer,
    role: ServerRole,
    parameters: Parameters,
  ): Promise<void> {
    await delay(START_AGAIN_MS, undefined, { ref: false });
    if (this.#isClosing || !this.#kept.has(asked.id) || server.isAlive()) return;
    const outcome = await server.start(role, parameters).catch(String);
    const isUp = typeof outcome !== 'string' && outcome.kind === 'started';
    const text = `server ${server.name} of branch ${asked.id} died; it ${isUp ? 'runs again' : 'does not start again'}`;
    this.#options.onEvent('warning', text);
  }

  #ancestor(id: string): Ancestor | undefined {
    return id === this.root.id ? this.root : this.#kept.get(id)?.branch;
  }

  /** Rows that the branch writes may show it (cluster_name). */
  #nameOf(id: string): string {
    const short = `branch-${id.slice(0, 8)}`;
    const isTaken = [...this.#kept.values()].some(({ branch }) => branch.server.name === short);
    return isTaken ? `branch-${id}` : short;
  }
}

/** `beginsAt`: what an omitted position has become. */
function isSame(asked: NewBranch, before: NewBranch, beginsAt?: number): boolean {
  if (asked.ancestorId !== before.ancestorId) return false;
  return asked.startAt === before.startAt || (asked.startAt !== undefined && asked.startAt === beginsAt);
}
