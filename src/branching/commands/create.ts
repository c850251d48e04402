// `pointsman branches create`: finds the branch of this name, or creates it, and prints its target.
import type { CreationResult } from '../branch-wish.ts';
import { indexBranches } from '../../branches/resolve.ts';
import type { Branch, EndpointType } from '../../model/branch.ts';
import { findPool } from '../../model/pool-names.ts';
import { shown } from '../../model/printable.ts';
import { parseLsn } from '../../model/lsn.ts';
import { addressText } from '../../model/member.ts';
import { isUnixSocket } from '../../model/unix-socket.ts';
import { STANDARD_INPUT } from '../../config/source/read-file.ts';
import { fileFor } from '../../cli/configuration.ts';
import { CommandEnd, fail, unlessEnded } from '../../cli/command-end.ts';
import type { CliIo } from '../../cli/io.ts';
import { json } from '../../cli/json.ts';
import {
  openContext,
  readBranches,
  whyNoNamesFile,
  type BranchContext,
  type BranchOptions,
  type BranchParts,
} from './branch-context.ts';
import { BRANCH_EXIT } from './branch-exit.ts';
import { branchText, findBranches, severalText } from './find-branch.ts';
import { routeTo, type TargetRoute } from './target-route.ts';

export interface CreateOptions extends BranchOptions {
  readonly parent?: string | undefined;
  readonly at?: string | undefined;
  readonly schemaOnly?: boolean | undefined;
  readonly endpoint?: readonly EndpointType[] | undefined;
  /** Milliseconds. */
  readonly wait: number;
}

export async function create(name: string, options: CreateOptions, io: CliIo, parts: BranchParts): Promise<number> {
  const context = await openContext(options, io, parts);
  const wrong = whyBadName(name) ?? whyWrongUsage(context);
  if (wrong !== undefined) return fail(io, wrong, BRANCH_EXIT.usage);
  const began = performance.now();
  const onRetry = (why: string): void => io.stderr(`trying again: ${why}\n`);
  const all = await readBranches(context, { waitMs: options.wait, onRetry });
  const refused = whyUnreachable(name, all, context);
  if (refused !== undefined) return fail(io, refused, BRANCH_EXIT.refused);
  const parent = options.parent === undefined ? undefined : parentOf(options.parent, all, context);
  const created = await context.control.create({
    name,
    parent,
    lsn: options.at,
    schemaOnly: options.schemaOnly === true,
    endpoints: options.endpoint ?? [],
    waitMs: Math.max(0, options.wait - (performance.now() - began)),
    onRetry,
  });
  if (created.kind !== 'created') return endUnfinished(name, created, io);
  const before = all.filter(({ id }) => id !== created.branch.id);
  report(created, [...before, created.branch], await routeAfter(created.branch, before, context, parts), context);
  return BRANCH_EXIT.ok;
}

function parentOf(given: string, all: readonly Branch[], { io, source }: BranchContext): Branch {
  const found = findBranches(given, all);
  if (found.length > 1) return fail(io, `--parent: ${severalText(given, found)}`, BRANCH_EXIT.refused);
  const why = `--parent: there is no branch ${shown(given)} in ${source}. See: pointsman branches list`;
  return found[0] ?? fail(io, why);
}

/** The lists of both sources are read with names up to this length. Characters. */
const MAX_NAME = 256;

/** Undefined: a client can write it behind the @ of a database. */
function whyBadName(name: string): string | undefined {
  if (name === '') return 'the name is empty: give it one, such as pr-1';
  if (/@|%40/.test(name)) return `${shown(name)} has an @, which separates the database from the branch: leave it out`;
  if (/[\s\p{Cc}\p{Cf}]/u.test(name)) return `${shown(name)} has a space or an invisible character: use - or _ instead`;
  if (name.length > MAX_NAME) return `the name has more than ${MAX_NAME} characters: use a shorter one`;
  return undefined;
}

/** `all`: the branches that exist. Undefined: clients reach the branch of this name, which may exist already. */
function whyUnreachable(name: string, all: readonly Branch[], { config, policy }: BranchContext): string | undefined {
  const pool = findPool(
    name,
    config.pools.map((one) => one.name),
  );
  if (pool !== undefined) return `${shown(name)} is a name of the pool ${pool}, which comes first: choose another name`;
  const isThere = all.some((branch) => branch.name === name);
  const route = routeTo(
    name,
    'write',
    indexBranches(isThere ? all : [...all, { id: 'planned', name, parentId: 'parent' }], policy),
  );
  if (route.kind === 'routed' || !route.isRule) return undefined;
  return `no client could use ${shown(name)}: ${route.why}`;
}

function endUnfinished(name: string, { kind, why }: Exclude<CreationResult, { kind: 'created' }>, io: CliIo): never {
  switch (kind) {
    case 'unfinished': {
      const next = 'Run the same command again: it continues with the same branch';
      return fail(io, `${shown(name)} is not finished yet: ${why}. ${next}`, BRANCH_EXIT.unfinished);
    }
    case 'refused':
      return fail(io, `${shown(name)} cannot be created: ${why}`, BRANCH_EXIT.refused);
    case 'failed':
      return fail(io, `${shown(name)} is not created: ${why}`);
  }
}

/** Where clients of the branch go. Its address may have come to the configuration with the creation. */
async function routeAfter(
  branch: Branch,
  before: readonly Branch[],
  { policy, options, io }: BranchContext<CreateOptions>,
  parts: BranchParts,
): Promise<TargetRoute> {
  const all = [...before, branch];
  const route = routeTo(branch.id, 'write', indexBranches(all, policy));
  // Standard input can be read once.
  if (route.kind === 'routed' || fileFor(options, io) === STANDARD_INPUT) return route;
  const again = await unlessEnded(() => openContext(options, io, parts));
  return again instanceof CommandEnd ? route : routeTo(branch.id, 'write', indexBranches(all, again.policy));
}

function whyWrongUsage(context: BranchContext<CreateOptions>): string | undefined {
  const { options, policy } = context;
  const { at, schemaOnly, endpoint } = options;
  switch (policy.source.kind) {
    case 'static':
      return 'the branches are in the configuration: add it to branches.static, then `pointsman reload`';
    case 'console':
      return at === undefined
        ? undefined
        : '--at is for a storage node: a console starts a branch at its parent’s position';
    case 'storage': {
      if (schemaOnly === true) return '--schema-only is for a console: a storage node copies the rows as well';
      if (endpoint !== undefined) return '--endpoint is for a console: a storage node has no endpoints';
      if (at !== undefined && parseLsn(at) === undefined)
        return `--at ${shown(at)} is no position: write it as 0/3000060`;
      if (policy.source.pgVersion === undefined) return 'branches.storage.pg_version is not set: set the major version';
      return whyNoNamesFile(context);
    }
  }
}

function report(
  { branch, isNew }: Extract<CreationResult, { kind: 'created' }>,
  all: readonly Branch[],
  route: TargetRoute,
  { io, options, config }: BranchContext<CreateOptions>,
): void {
  const parent = all.find(({ id }) => id === branch.parentId)?.name ?? branch.parentId;
  if (route.kind === 'refused') {
    const look = `pointsman branches explain ${shown(branch.name)}`;
    io.stderr(`warning: clients cannot use it yet: ${route.why}. Look again with: ${look}\n`);
  }
  if (options.json === true) {
    const { id, name, parentId: parent_id = null, parentLsn: parent_lsn = null } = branch;
    const backend = route.kind === 'routed' ? route.address : null;
    io.stdout(json({ created: isNew, branch: { id, name, parent_id, parent_lsn }, target: name, backend }));
    return;
  }
  const from = parent === undefined ? '' : `, from ${shown(parent)}`;
  const at = branch.parentLsn === undefined ? '' : ` at ${branch.parentLsn}`;
  io.stdout(`${branchText(branch)} ${isNew ? 'is created' : 'exists already'}${from}${at}\n`);
  if (route.kind === 'routed') io.stdout(`connect with: psql '${urlOf(branch, config)}'\n`);
}

/** On a listener for writes, if there is one. */
function urlOf({ name }: Branch, { pools, listeners }: BranchContext['config']): string {
  const isForWrites = (pool: string): boolean => pools.some((one) => one.name === pool && one.exclusive);
  const reachable = listeners.filter(({ address: one }) => !isUnixSocket(one));
  const { address } = reachable.find(({ pool }) => isForWrites(pool)) ?? reachable[0] ?? {};
  const isAny = address === undefined || ['0.0.0.0', '::', '*', ''].includes(address.host);
  const where = isAny ? `HOST:${address?.port ?? 'PORT'}` : addressText(address);
  return `postgresql://USER@${where}/DATABASE@${encodeURIComponent(name)}`;
}
