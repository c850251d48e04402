// The start of every command of `pointsman branches`: the source of the branches, by a configuration or by that of a
// running Pointsman, and the session counts of a running Pointsman.
import type { ClusterOptions } from '../../cli/cluster/cluster-context.ts';
import { isAbsolute } from 'node:path';
import type { Config } from '../../config/config.ts';
import { formatProblems } from '../../config/fault.ts';
import { loadConfig, NO_SEED } from '../../config/load.ts';
import type { Branch, BranchesPolicy, BranchSourcePolicy } from '../../model/branch.ts';
import { configurationDocument } from '../../documents/configuration-document.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import { addressText } from '../../model/member.ts';
import { configFor, fileFor, withoutCluster } from '../../cli/configuration.ts';
import { fail } from '../../cli/command-end.ts';
import type { CliIo } from '../../cli/io.ts';
import { tryRequest } from '../../cli/admin-request.ts';
import { findRunning, type Running } from '../../cli/running.ts';
import type { BranchControl, ListWait } from '../control-branches.ts';
import { BRANCH_EXIT } from './branch-exit.ts';

export interface BranchParts {
  /** Over the source's own API. */
  readonly openSource: (source: BranchSourcePolicy) => Promise<BranchControl>;
}

export interface BranchOptions extends Pick<ClusterOptions, 'config' | 'admin' | 'json'> {
  /** Replaces the key of the configuration. */
  readonly apiKeyFile?: string | undefined;
}

export interface BranchContext<Options extends BranchOptions = BranchOptions> {
  readonly options: Options;
  readonly io: CliIo;
  readonly policy: BranchesPolicy;
  readonly config: Pick<Config, 'pools' | 'listeners'>;
  readonly control: BranchControl;
  /** For sentences: `the storage node at http://pageserver:9898`. */
  readonly source: string;
  /** The Pointsman that gave the configuration. Undefined: a file or the environment did. */
  readonly configuredBy: Running | undefined;
}

const NO_BRANCHES = 'has no section `branches`: add one, as config/branches.yaml shows';

export async function openContext<Options extends BranchOptions>(
  options: Options,
  io: CliIo,
  parts: BranchParts,
): Promise<BranchContext<Options>> {
  const found = isConfigured(options, io) ? ownConfig(options, io) : await configOfRunning(options, io);
  const { config, from, configuredBy } = found;
  if (config.branches === undefined) return fail(io, `${from} ${NO_BRANCHES}`, BRANCH_EXIT.usage);
  const policy = withKey(config.branches, options.apiKeyFile);
  if (policy === undefined) {
    const why = '--api-key-file is for `source: console`; a storage node takes branches.storage.headers_file';
    return fail(io, why, BRANCH_EXIT.usage);
  }
  const control = await parts.openSource(policy.source);
  return { options, io, policy, config, control, source: sourceText(policy.source), configuredBy };
}

interface FoundConfig {
  readonly config: Config;
  /** For sentences. */
  readonly from: string;
  readonly configuredBy: Running | undefined;
}

function isConfigured(options: BranchOptions, io: CliIo): boolean {
  const isInEnvironment = Object.entries(io.env).some(
    ([name, value]) => name.startsWith('POINTSMAN_BRANCHES_') && Boolean(value),
  );
  return fileFor(options, io) !== undefined || isInEnvironment;
}

function ownConfig({ config }: BranchOptions, io: CliIo): FoundConfig {
  const loaded = configFor({ config }, withoutCluster({ config }, io));
  return { config: loaded.config, from: loaded.file ?? 'the environment', configuredBy: undefined };
}

const configReader = looseReader(configurationDocument, { needed: ['configuration'] });
const HINT = 'Or name the configuration: -c FILE.';

/** The parts of the running configuration that matter here: its files may exist on another machine alone. */
async function configOfRunning(options: BranchOptions, io: CliIo): Promise<FoundConfig> {
  const running = findRunning(options, io);
  const from = `the Pointsman at ${addressText(running.address)}`;
  const answer = await tryRequest(running, { method: 'GET', path: '/config' });
  if (answer.kind === 'failed') return fail(io, `${answer.why} ${HINT}`);
  const { data } = configReader.safeParse(answer.body);
  if (answer.status !== 200 || data === undefined) {
    return fail(io, `${from} does not report its configuration. ${HINT}`);
  }
  const { pools, listeners, branches } = data.configuration;
  const text = JSON.stringify({ cluster: { seeds: [NO_SEED] }, pools, listeners, branches });
  const loaded = loadConfig({ file: 'configuration', env: {}, readFile: () => text });
  if (loaded.kind === 'ok') return { config: loaded.config, from, configuredBy: running };
  const why = `the configuration of ${from} cannot be used here. ${HINT}\n${formatProblems(loaded.problems)}`;
  return fail(io, why);
}

/** Undefined: the source takes no key. */
function withKey(policy: BranchesPolicy, apiKeyFile: string | undefined): BranchesPolicy | undefined {
  if (apiKeyFile === undefined) return policy;
  const { source } = policy;
  return source.kind === 'console' ? { ...policy, source: { ...source, apiKeyFile } } : undefined;
}

function sourceText(source: BranchSourcePolicy): string {
  switch (source.kind) {
    case 'console':
      return `project ${source.project} of the console at ${source.url}`;
    case 'storage':
      return `the storage node at ${source.url}, tenant ${source.tenant}`;
    case 'static':
      return 'branches.static of the configuration';
  }
}

/**
 * The names file of a storage node belongs to one machine: a second file elsewhere would give a name to a second
 * timeline. Undefined: it can be used here.
 */
export function whyNoNamesFile({ policy, configuredBy }: BranchContext): string | undefined {
  const { source } = policy;
  if (source.kind !== 'storage') return undefined;
  if (source.namesFile === undefined) {
    return 'branches.storage.names_file is not set. Timelines have no names, so their names are kept in that file';
  }
  if (configuredBy === undefined) return undefined;
  const { host } = configuredBy.address;
  const isHere = /^127\.|^::1$|^localhost$/.test(host);
  if (isHere && isAbsolute(source.namesFile)) return undefined;
  const where = isHere ? 'has no absolute path' : `is on ${host}`;
  return `branches.storage.names_file (${source.namesFile}) ${where}: run this command with -c FILE, beside that file`;
}

/** The branches of the source. Ends the command if they cannot be read. */
export async function readBranches(
  { control, source, io }: BranchContext,
  wait?: ListWait,
): Promise<readonly Branch[]> {
  const listed = await control.list(wait);
  if (listed.kind === 'read') return listed.branches;
  return fail(io, `the branches cannot be read from ${source}: ${listed.why}`);
}
