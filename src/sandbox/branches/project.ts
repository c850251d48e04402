// The console's project: branches with names and endpoints over the timelines of the tenant. As a hosted console, it
// knows the branches that were made through it, and answers before a branch is up.
import { randomBytes, randomInt } from 'node:crypto';
import type { SandboxServer } from '../postgres/postgres-server.ts';
import type { EndpointType } from '../../model/branch.ts';
import type { Tenant } from './tenant.ts';

export interface ProjectBranch {
  /** Prefix `br-`. */
  readonly id: string;
  readonly name: string;
  readonly timelineId: string;
  /** Undefined: the default branch, which is the cluster. */
  readonly parentId: string | undefined;
  readonly endpoints: readonly EndpointType[];
  readonly createdAt: Date;
}

export interface NewProjectBranch {
  readonly name: string | undefined;
  /** Undefined: the default branch. */
  readonly parentId: string | undefined;
  readonly isSchemaOnly: boolean;
  readonly endpoints: readonly EndpointType[];
}

export type ProjectCreation =
  | { readonly kind: 'created'; readonly branch: ProjectBranch }
  | { readonly kind: 'no_parent' | 'name_taken' | 'failed'; readonly text: string };

const WORDS = {
  first: 'aged bold calm damp early fancy gentle icy late misty quiet rapid shy solitary warm young'.split(' '),
  second: 'bar brook cake cloud dew field frost hill lake leaf moon rain salad sea star wind'.split(' '),
};

export class Project {
  readonly id = 'calm-sea-1234';
  readonly tenant: Tenant;
  readonly #branches: ProjectBranch[];
  /** Timelines that were asked for, and are not in the tenant's list yet. */
  readonly #pending = new Set<string>();

  constructor(tenant: Tenant) {
    this.tenant = tenant;
    this.#branches = [
      {
        id: newId(),
        name: 'main',
        timelineId: tenant.root.id,
        parentId: undefined,
        endpoints: ['read_write', 'read_only'],
        createdAt: new Date(),
      },
    ];
  }

  /** The default branch first. A branch whose timeline was deleted is gone. */
  list(): readonly ProjectBranch[] {
    return this.#branches.filter(
      ({ timelineId }) => timelineId === this.tenant.root.id || this.tenant.find(timelineId) !== undefined,
    );
  }

  /** Where a branch listens: of `read_only` the standby. Undefined: it has no such endpoint now. */
  serverOf({ timelineId, endpoints }: ProjectBranch, type: EndpointType): SandboxServer | undefined {
    if (!endpoints.includes(type)) return undefined;
    const found = this.tenant.find(timelineId);
    return type === 'read_write' ? found?.branch.server : found?.reader;
  }

  isReady({ timelineId }: ProjectBranch): boolean {
    return timelineId === this.tenant.root.id || this.tenant.find(timelineId)?.isDurable === true;
  }

  /** Resolves when the branch is in the list. Its server may not be up yet. */
  async create(asked: NewProjectBranch): Promise<ProjectCreation> {
    const listed = this.list();
    const taken = this.#branches.filter((branch) => listed.includes(branch) || this.#pending.has(branch.timelineId));
    const parent = asked.parentId === undefined ? listed[0] : listed.find(({ id }) => id === asked.parentId);
    if (parent === undefined) return { kind: 'no_parent', text: `there is no branch ${asked.parentId}` };
    const id = newId();
    const { name = id, endpoints, isSchemaOnly } = asked;
    if (taken.some((branch) => branch.name === name)) {
      return { kind: 'name_taken', text: `a branch named ${name} exists` };
    }
    const timelineId = randomBytes(16).toString('hex');
    const branch = { id, name, timelineId, parentId: parent.id, endpoints, createdAt: new Date() };
    this.#branches.push(branch);
    this.#pending.add(timelineId);
    const visible = Promise.withResolvers<undefined>();
    const created = this.tenant.create({
      id: timelineId,
      ancestorId: parent.timelineId,
      startAt: undefined,
      isSchemaOnly,
      hasReader: endpoints.includes('read_only'),
      onVisible: () => visible.resolve(undefined),
    });
    const first = await Promise.race([created, visible.promise]);
    this.#pending.delete(timelineId);
    if (first === undefined || first.kind === 'created') return { kind: 'created', branch };
    this.#branches.splice(this.#branches.indexOf(branch), 1);
    return { kind: 'failed', text: first.text };
  }
}

function newId(): string {
  return `br-${word(WORDS.first)}-${word(WORDS.second)}-${randomInt(10_000_000, 99_999_999)}`;
}

function word(list: readonly string[]): string {
  return list[randomInt(list.length)] ?? '';
}
