// The configuration of the Pointsman in front of the sandbox, as a user would write it for such a cluster. Pure.
import type {
  Sandbox,
  BranchPlace,
  SandboxBranches,
  SandboxLookup,
  SandboxPlatform,
  SandboxQuestions,
  SandboxTls,
} from '../sandbox.ts';
import type { SkillDialect } from '../../model/skill-dialect.ts';
import { stringify } from 'yaml';
import { connectionUrl, quoted } from './connection-url.ts';

/** Known to everybody, as the passwords are: what listens is on loopback. */
export const ADMIN_TOKEN = 'sandbox-operator';

export interface Addresses {
  /** Each host:port. */
  readonly write: string;
  readonly read: string;
  readonly admin: string;
}

/** The API that the list of branches comes from. */
export type BranchApi = 'storage' | 'console';

export interface RoutedSandbox extends Pick<Sandbox, 'app' | 'lookup' | 'members' | 'questions' | 'scope' | 'tls'> {
  /** Undefined: without branches. */
  readonly branches: { readonly source: BranchApi; readonly from: SandboxBranches } | undefined;
  /** Sessions move, if there is a lookup role. */
  readonly hasMoves: boolean;
  /** For commands: Pointsman itself never calls it. Undefined: without a platform. */
  readonly platform: { readonly dialect: SkillDialect; readonly at: SandboxPlatform } | undefined;
}

/** For a second Pointsman before the same cluster, and for `check --live`: its ports are 10 higher. */
export function secondConfig(routed: RoutedSandbox, addresses: Addresses): string {
  const { write, read, admin } = addresses;
  const others = { write: tenHigher(write), read: tenHigher(read), admin: tenHigher(admin) };
  const url = connectionUrl(routed.app, others.write, routed.tls);
  return [
    '# The configuration of the Pointsman in the sandbox, with other ports: for a second one, and for check --live.',
    `# pointsman check --live -c FILE; pointsman run -c FILE; psql ${quoted(url)}`,
    pointsmanConfig(routed, others),
  ].join('\n');
}

/** The API of branches that this configuration does not use. */
function otherApi(branches: RoutedSandbox['branches']): readonly string[] {
  if (branches === undefined) return [];
  const { storageUrl, tenant, consoleUrl, project, apiKeyFile } = branches.from;
  return branches.source === 'storage'
    ? [
        `# The console, which these branches do not come from: ${consoleUrl}`,
        `#   project ${project}, key ${apiKeyFile}`,
      ]
    : [`# The storage node, which these branches do not come from: ${storageUrl}`, `#   tenant ${tenant}`];
}

function tenHigher(address: string): string {
  return address.replace(/\d+$/, (port) => String(Number(port) + (Number(port) > 65_525 ? -10 : 10)));
}

/** It has the branches of this moment. */
export function pointsmanConfig(
  { scope, members, branches, platform, lookup, questions, hasMoves, tls }: RoutedSandbox,
  addresses: Addresses,
): string {
  const document = stringify({
    cluster: {
      scope,
      seeds: members.map(({ api }) => api),
      // Without this, a listed member is contacted on the usual port only.
      allow: { ports: members.map(({ port }) => port) },
    },
    ...(branches === undefined ? {} : { branches: branchesSection(branches.source, branches.from) }),
    ...(platform === undefined ? {} : { platform: platformSection(platform.dialect, platform.at) }),
    ...(lookup === undefined || !hasMoves
      ? {}
      : { moves: movesSection(lookup), pools: poolsSection(questions !== undefined) }),
    ...(questions === undefined ? {} : questionsSections(questions)),
    ...(tls === undefined ? {} : tlsSections(tls, lookup)),
    listeners: [
      { address: addresses.write, pool: 'write' },
      { address: addresses.read, pool: 'read' },
    ],
    admin: { address: addresses.admin, token: ADMIN_TOKEN },
  });
  return [...otherApi(branches), document].join('\n');
}

/** A template has one port for all branches, and here each has its own. */
function branchesSection(source: BranchApi, from: SandboxBranches): object {
  const { storageUrl, tenant, namesFile, pgMajor, consoleUrl, project, apiKeyFile } = from;
  const section =
    source === 'storage'
      ? { url: storageUrl, tenant, names_file: namesFile, pg_version: pgMajor }
      : { url: consoleUrl, project, api_key_file: apiKeyFile };
  const places: readonly BranchPlace[] = source === 'storage' ? from.timelines() : from.projectBranches();
  const readers = source === 'storage' ? [] : from.projectReaders();
  const backends = { overrides: addressesOf(places), read_overrides: addressesOf(readers) };
  return { source, refresh: '2s', [source]: section, backends };
}

function addressesOf(places: readonly BranchPlace[]): Readonly<Record<string, string>> {
  return Object.fromEntries(places.map(({ id, host, port }) => [id, `${host}:${port}`]));
}

/** Sessions move wherever they can: also without warning, and at each planned way out of a pool. */
function movesSection(lookup: SandboxLookup): object {
  return { mode: 'always', roles: [lookup.role], verifiers: verifiersOf(lookup) };
}

/** A slow replica of the sandbox is later than this. */
const CAUSAL_READS = { wait: '300ms', late: 'primary' };

function poolsSection(hasCausalReads: boolean): object {
  const causalReads = hasCausalReads ? { causal_reads: CAUSAL_READS } : {};
  const onLeave = { lagging: 'move', old_timeline: 'move', promoted: 'move', fallback_over: 'move', operator: 'move' };
  return {
    write: { on_leave: { demoted: 'move', operator: 'move' } },
    read: { ...causalReads, on_leave: onLeave },
  };
}

/** Pointsman reads the streams of sessions whose reads wait, so TLS must end here. */
function questionsSections({ user, passwordFile, cert, key }: SandboxQuestions): object {
  return { questions: { user, password_file: passwordFile }, client: { tls: { mode: 'terminate', cert, key } } };
}

/** Clients without TLS are refused, and so are members without it. */
function tlsSections({ caFile, cert, key }: SandboxTls, lookup: SandboxLookup | undefined): object {
  return {
    client: { tls: { mode: 'require', cert, key } },
    backend: { tls: { mode: 'verify-full', ca_file: caFile } },
    ...(lookup === undefined ? {} : { logins: { roles: [lookup.role], verifiers: verifiersOf(lookup) } }),
  };
}

function verifiersOf({ lookupUser, passwordFile }: SandboxLookup): object {
  return { user: lookupUser, password_file: passwordFile };
}

function platformSection(dialect: SkillDialect, at: SandboxPlatform): object {
  return {
    url: at.url,
    api_key_file: at.apiKeyFile,
    auth_header: at.authHeader,
    beta_header: at.betaHeader,
    skills: { dialect, files_field: at.skillsField },
    files: { field: at.fileField },
  };
}
