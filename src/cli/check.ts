// `pointsman check`: validates a configuration and prints a summary. Reads only the file; with --live also each seed's
// member list, the list of branches and the verifiers, and probes the members.
import type { AdminConfig, Config, IncidentsConfig } from '../config/config.ts';
import type { BranchesPolicy } from '../model/branch.ts';
import { sizeText } from '../model/check.ts';
import type { KubernetesConfig } from '../model/cluster-config.ts';
import type { MovesPolicy } from '../model/moves.ts';
import { formatProblems, type Problem } from '../config/fault.ts';
import { addressText, type Address } from '../model/member.ts';
import type { PoolPolicy } from '../model/policy.ts';
import { configFor, fileFor, load, type ConfigOptions } from './configuration.ts';
import { EXIT, type CliIo } from './io.ts';
import { json } from './json.ts';
import { problemsIn, warningsIn, type CheckSeeds } from './live-check.ts';
import { liveDocument, showLive } from './live-report.ts';
import { paintFor } from './terminal/colour.ts';
import { tableText, widthFor } from './terminal/terminal-table.ts';

export interface CheckOptions extends ConfigOptions {
  /** Also reads the member list from each seed, and probes the members. */
  readonly live?: boolean | undefined;
  readonly json?: boolean | undefined;
  /** Only problems and warnings. */
  readonly quiet?: boolean | undefined;
}

/**
 * Exit code 0 for a valid configuration, with or without warnings. With `live`, exit code 1 if no seed returns the
 * member list, if a member would be refused, if no primary would be usable, if `backend.tls` does not accept it, if the
 * list of branches cannot be read for a reason that does not pass, if the source of verifiers does not answer, or if
 * the primary cannot be asked for its position.
 */
export async function check(options: CheckOptions, io: CliIo, checkSeeds: CheckSeeds): Promise<number> {
  if (options.json === true) return await checkAsJson(options, io, checkSeeds);
  const loaded = configFor(options, io);
  const { file = 'environment', config, warnings } = loaded;
  const tell = options.quiet === true ? () => {} : io.stdout;
  if (warnings.length > 0) io.stderr(`${formatProblems(warnings).replaceAll(/^/gm, 'warning: ')}\n`);
  tell(`${file}: ${paintFor(io)('good', 'ok')}\n${summary(config, widthFor(io))}`);
  if (options.live !== true) return EXIT.ok;
  return showLive(await checkSeeds(config), { ...io, stdout: tell });
}

/** One document on standard output, for a broken configuration as well. */
async function checkAsJson(options: CheckOptions, io: CliIo, checkSeeds: CheckSeeds): Promise<number> {
  const file = fileFor(options, io) ?? null;
  const loaded = load(options, io);
  const print = (document: object): void => io.stdout(json({ file, ...document }));
  if (loaded.kind === 'invalid') {
    print({ valid: false, problems: loaded.problems.map(problemDocument), warnings: [] });
    return EXIT.usage;
  }
  const { config } = loaded;
  const warnings = loaded.warnings.map(problemDocument);
  if (options.live !== true) {
    print({ valid: true, problems: [], warnings });
    return EXIT.ok;
  }
  const report = await checkSeeds(config);
  const problems = problemsIn(report).map((message) => ({ origin: null, path: '', message }));
  const found = warningsIn(report).map((message) => ({ origin: null, path: '', message }));
  print({ valid: true, problems, warnings: [...warnings, ...found], live: liveDocument(report) });
  return problems.length === 0 ? EXIT.ok : EXIT.failure;
}

function problemDocument({ origin, path, message }: Problem): object {
  return { origin, path, message };
}

function summary(config: Config, width: number): string {
  const { cluster } = config;
  const from = [
    ...cluster.seeds.map((seed) => seed.url),
    ...cluster.members.map((member) => member.name),
    ...(cluster.kubernetes === undefined ? [] : [kubernetesText(cluster.kubernetes)]),
  ].join(', ');
  const how = cluster.discovery === 'dynamic' ? 'members from /cluster' : 'only these members';
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['cluster', `${cluster.scope ?? 'any scope'}, from ${from} (${how})`],
    ...config.pools.map((pool) => [`pool ${pool.name}`, poolText(pool)] as const),
    ...config.listeners.map(({ address, pool }) => ['listener', `${listenText(address)} -> ${pool}`] as const),
    ['branches', config.branches && branchesText(config.branches)],
    ['moves', config.moves && movesText(config.moves)],
    ['client TLS', tlsText(config)],
    ['workers', workersText(config.workers)],
    ['incidents', incidentsText(config.incidents)],
    ['admin', adminText(config.admin)],
    ['console', config.admin.console && listenText(config.admin.console)],
  ];
  const cells = rows.flatMap(([label, text]) => (text === undefined ? [] : [[`  ${label}`, text]]));
  return tableText([{ title: '' }, { title: '', wraps: true }], cells, width);
}

function tlsText({ client, pools }: Config): string {
  const { mode } = client.tls;
  if (mode !== 'passthrough') return `${mode}, with ${client.tls.cert}`;
  const limit = 'TLS clients get the pool of their listener; app@POOL and pointsman.pool need a connection without TLS';
  return pools.length > 1 ? `${mode}: ${limit}` : mode;
}

function branchesText({ source, allow, backends }: BranchesPolicy): string {
  const rule = source.kind === 'static' ? 'all' : 'those with a parent';
  const names = allow === undefined ? rule : allow.join(', ');
  switch (source.kind) {
    case 'static':
      return `${source.branches.size} of this configuration (${names})`;
    case 'console':
      return `of project ${source.project} at ${source.url} (${names}), ${placesText(backends)}`;
    case 'storage':
      return `of tenant ${source.tenant} at ${source.url} (${names}), ${placesText(backends)}`;
  }
}

function placesText({ template, overrides, tls }: BranchesPolicy['backends']): string {
  const own = overrides.size === 0 ? [] : [`${overrides.size} with an address of their own`];
  const places = [...(template === undefined ? [] : [`at ${addressText(template)}`]), ...own];
  return `${places.join(', ')}${tls === 'off' ? '' : ', with TLS'}`;
}

function movesText({ mode, roles, verifiers }: MovesPolicy): string {
  const when = mode === 'planned' ? 'planned' : 'planned, and after the loss of a server';
  const source = verifiers && (verifiers.kind === 'file' ? verifiers.file : `role ${verifiers.user}`);
  const login = source === undefined ? 'that log in without a password' : `verifiers from ${source}`;
  return `${when}, sessions of ${roles.join(', ')}, ${login}`;
}

function workersText(workers: Config['workers']): string | undefined {
  if (workers === 1) return undefined;
  return workers === 'auto' ? 'auto, one per processor' : `${workers} and the main process`;
}

function kubernetesText({ service, labels, namespace }: KubernetesConfig): string {
  const what = service === undefined ? `pods ${labels}` : `service ${service}`;
  return `kubernetes ${what} in ${namespace ?? 'its own namespace'}`;
}

function adminText({ address, token, tokenFile }: AdminConfig): string {
  const hasToken = token !== undefined || tokenFile !== undefined;
  return `http://${listenText(address)}, ${hasToken ? 'operations with a token' : 'no operations (no token)'}`;
}

function incidentsText({ directory, maxBytes, keep }: IncidentsConfig): string | undefined {
  return directory && `${directory}, the last ${keep}, up to ${sizeText(maxBytes)}`;
}

function poolText({ check, exclusive, balance, fallback }: PoolPolicy): string {
  const kind = exclusive ? 'one member' : balance;
  const lent =
    fallback === undefined ? '' : `, fallback to pool ${fallback.pool} (up to ${fallback.maxSessions} sessions)`;
  return `${check.text}, ${kind}${lent}`;
}

/** In the syntax of the file. */
function listenText(address: Address): string {
  return address.host === '::' ? `*:${address.port}` : addressText(address);
}
