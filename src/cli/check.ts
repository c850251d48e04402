// `pointsman check`: validates a configuration and prints a summary. Reads only the file; with --live also each seed's
// member list.
import type { AdminConfig, Config } from '../config/config.ts';
import type { KubernetesConfig } from '../model/cluster-config.ts';
import { formatProblems } from '../config/fault.ts';
import { addressText } from '../model/member.ts';
import type { Address } from '../model/member.ts';
import type { PoolPolicy } from '../model/policy.ts';
import { configFor } from './configuration.ts';
import type { ConfigOptions } from './configuration.ts';
import { EXIT } from './io.ts';
import type { CliIo, SeedReport, CheckSeeds } from './io.ts';

export interface CheckOptions extends ConfigOptions {
  /** Also reads the member list from each seed. */
  readonly live?: boolean | undefined;
}

/**
 * Exit code 0 for a valid configuration, with or without warnings. With `live`, exit code 1 if no seed returns the
 * member list, if a member would be refused, or if no member is usable.
 */
export async function check(options: CheckOptions, io: CliIo, checkSeeds: CheckSeeds): Promise<number> {
  const loaded = configFor(options, io);
  if (loaded === undefined) return EXIT.usage;
  const { file = 'environment', config, warnings } = loaded;
  if (warnings.length > 0) io.stderr(`${formatProblems(warnings).replaceAll(/^/gm, 'warning: ')}\n`);
  io.stdout(`${file}: ok\n${summary(config)}`);
  return options.live === true ? await checkLive(config, io, checkSeeds) : EXIT.ok;
}

async function checkLive({ cluster }: Config, io: CliIo, checkSeeds: CheckSeeds): Promise<number> {
  const reports = await checkSeeds(cluster);
  for (const report of reports) {
    if (report.kind === 'found') io.stdout(seedText(report));
    else io.stderr(`${report.url}: ${report.why.replace(`${report.url}: `, '')}\n`);
  }
  const problem = liveProblem(reports.flatMap((report) => (report.kind === 'found' ? [report] : [])));
  if (problem === undefined) return EXIT.ok;
  io.stderr(`${problem}\n`);
  return EXIT.failure;
}

type Found = Extract<SeedReport, { kind: 'found' }>;

function liveProblem(found: readonly Found[]): string | undefined {
  if (found.length === 0) {
    return 'no seed returned a member list: check that they run and that this host can reach their management API';
  }
  const isUsable = found.some(({ members }) => members.some(({ postgres }) => postgres !== undefined));
  if (!isUsable) return 'no member can be used, so there is nowhere to route to';
  const refused = found.flatMap((report) => report.refused.filter(({ reason }) => reason !== 'contact_point'));
  const names = [...new Set(refused.map(({ name }) => name))];
  if (names.length === 0) return undefined;
  return `${names.length === 1 ? '1 member is' : `${names.length} members are`} not used: ${names.join(', ')}`;
}

function seedText({ url, scope, leader, contactPoints, members, refused }: Found): string {
  const lines = [
    `${url}: cluster ${scope ?? '(no name)'}, leader ${leader ?? 'none'}`,
    ...(contactPoints.length === 0 ? [] : [`  contact points: ${contactPoints.join(', ')}`]),
    ...members.map(
      ({ name, postgres }) => `  ${name}  ${postgres === undefined ? 'no PostgreSQL address' : addressText(postgres)}`,
    ),
    ...refused.map(({ name, why }) => `  ${name}  not used: ${why}`),
  ];
  return `${lines.join('\n')}\n`;
}

function summary(config: Config): string {
  const { cluster } = config;
  const from = [
    ...cluster.seeds.map((seed) => seed.url),
    ...cluster.members.map((member) => member.name),
    ...(cluster.kubernetes === undefined ? [] : [kubernetesText(cluster.kubernetes)]),
  ].join(', ');
  const how = cluster.discovery === 'dynamic' ? 'members from /cluster' : 'only these members';
  const rows: readonly (readonly [string, string])[] = [
    ['cluster', `${cluster.scope ?? 'any scope'}, from ${from} (${how})`],
    ...config.pools.map((pool) => [`pool ${pool.name}`, poolText(pool)] as const),
    ...config.listeners.map(({ address, pool }) => ['listener', `${listenText(address)} -> ${pool}`] as const),
    ['client TLS', tlsText(config)],
    ...(config.workers === 1 ? [] : [['workers', workersText(config.workers)] as const]),
    ['admin', adminText(config.admin)],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}\n`).join('');
}

function tlsText({ client, pools }: Config): string {
  const { mode } = client.tls;
  if (mode !== 'passthrough') return `${mode}, with ${client.tls.cert}`;
  const limit = 'TLS clients get the pool of their listener; app@POOL and pointsman.pool need a connection without TLS';
  return pools.length > 1 ? `${mode}: ${limit}` : mode;
}

function workersText(workers: Config['workers']): string {
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
