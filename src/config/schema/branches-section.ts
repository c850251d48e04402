// The section `branches`: where the list of branches comes from, which of them may be routed, and where they listen.
import { z } from 'zod';
import { BRANCH_SOURCES, type BranchSourcePolicy, type BranchesPolicy } from '../../model/branch.ts';
import { key } from './key.ts';
import { address, baseUrl, branchTemplate, choice, count, duration, matching, nonEmpty } from './values.ts';

/** The directory asks at most once a second. */
const FASTEST_MS = 1000;

const console = z.strictObject({
  url: key(baseUrl, 'The base URL of the console. Pointsman appends `/api/v2`.', {
    example: 'https://console.internal',
  }),
  project: key(matching('the id of a project, in quotes if it is a number', /^\w[\w.-]{0,127}$/), 'The project.', {
    example: 'calm-sea-1234',
  }),
  api_key_file: key(
    nonEmpty,
    `A file that holds the API key. It is read at each request. The running Pointsman only reads, so give it a key that
    may read only. \`pointsman branches create NAME\` takes the key of a person with \`--api-key-file\`.`,
    { example: '/run/secrets/console' },
  ),
});

const storage = z.strictObject({
  url: key(baseUrl, 'The base URL of the management API of the storage node. Pointsman appends `/v1`.', {
    example: 'http://pageserver:9898',
  }),
  tenant: key(
    matching('the id of a tenant, in quotes if it is a number', /^\w[\w.-]{0,127}$/),
    'The tenant whose timelines are the branches.',
    { example: '9ef87a5bf0d92544f6fafeeb3239695c' },
  ),
  names_file: key(
    nonEmpty.optional(),
    `A file with the names of timelines, which have none of their own. \`pointsman branches create NAME\` writes it.
    Keep it on a disk that survives a restart.`,
    { example: '/var/lib/pointsman/branches.json', usual: 'the id of a timeline is its name' },
  ),
  pg_version: key(
    count(10, 99).optional(),
    'The major version of the database. `pointsman branches create NAME` needs it.',
    { example: '17' },
  ),
  headers_file: key(
    nonEmpty.optional(),
    `A file with headers that each request carries, one \`Name: value\` in a line, for a storage node that asks for
    authentication. It is read at each request.`,
    { example: '/run/secrets/pageserver-headers' },
  ),
});

const backends = z.strictObject({
  template: key(
    branchTemplate.optional(),
    `The address of a branch: \`{id}\`, \`{name}\` or \`{slug}\` in the host stands for that of the branch. The slug is
    the name in lower case with \`-\` for every character that is no letter or digit, at most 63 characters, as
    GitLab makes CI_COMMIT_REF_SLUG.`,
    { example: "'{id}.branches.svc:5432'" },
  ),
  read_template: key(
    branchTemplate.optional(),
    `The address on a listener for reads, for a branch that has a read_only endpoint by the console's list. Every other
    branch is reached by \`template\` there too.`,
    { example: "'{id}-ro.branches.svc:5432'", usual: '`template`' },
  ),
  overrides: key(
    z.record(nonEmpty, address).prefault({}),
    'Addresses of single branches, by id or by name. They have precedence over both templates.',
    { example: '{ br-aged-salad: 10.0.0.9:55432 }' },
  ),
  read_overrides: key(
    z.record(nonEmpty, address).prefault({}),
    'The same for a listener for reads. A branch without an entry is reached by `overrides` there too.',
    { example: '{ br-aged-salad: 10.0.0.10:55432 }' },
  ),
  tls: key(
    choice(['off', 'require']).default('off'),
    `\`require\`: connections to branches use TLS, with the host as the server name (SNI), and the certificate is
    verified. With \`client.tls.mode: passthrough\` a client that uses TLS itself cannot ask for a branch.`,
  ),
  ca_file: key(
    nonEmpty.optional(),
    `With \`tls: require\`: a PEM file with the certificate authorities that sign the branches' certificates. It is read
    at each connect. While it cannot be used, its last good content counts.`,
    { example: '/etc/pointsman/branches-ca.crt', usual: "the system's authorities" },
  ),
});

const connect = z.strictObject({
  attempt_timeout: key(
    duration(1).prefault('5s'),
    'Time for one connect to a branch, the first answer of its server included.',
  ),
  budget: key(
    duration(1).prefault('30s'),
    `How long a client waits for a branch that wakes up: connects are repeated with growing pauses (200 ms, 400 ms, at
    most 5 s). Then it is refused with SQLSTATE 57P03.`,
  ),
});

export const branches = z.strictObject({
  source: key(
    choice(BRANCH_SOURCES),
    `Where the list of branches comes from. \`console\`: a hosted console. \`storage\`: the timelines of a storage node.
    \`static\`: this file.`,
    { example: 'storage' },
  ),
  refresh: key(
    duration(FASTEST_MS).prefault('15s'),
    `Time between two reads of the list, with 10 % jitter. A client that asks for a branch which the list does not have
    causes a read at once, one for all clients that wait and at most one per second.`,
  ),
  allow: key(
    z
      .array(nonEmpty)
      .min(1, { error: 'is empty, so no branch could be routed: leave it out for the default' })
      .optional(),
    `Names of the branches that may be routed, with \`*\` for any characters. A root branch (production) needs a pattern
    with more than \`*\`. The source \`static\` knows no roots.`,
    { example: "['pr-*', 'dev-*']", usual: 'every branch that has a parent' },
  ),
  console: key(console.optional(), 'The console, for `source: console`.'),
  storage: key(storage.optional(), 'The storage node, for `source: storage`.'),
  static: key(
    z.record(nonEmpty, address).optional(),
    'Branches by name, each with its address, for `source: static`.',
    { example: '{ pr-1: 10.0.0.9:55432 }' },
  ),
  backends: key(backends.prefault({}), 'Where branches listen. The source `static` has the addresses itself.'),
  connect: key(connect.prefault({}), 'Connects to branches. No connection exists without a client.'),
});

export type ParsedBranches = z.output<typeof branches>;

export function branchesPolicy(parsed: ParsedBranches): Omit<BranchesPolicy, 'pool'> {
  const { backends: at, connect: times } = parsed;
  return {
    source: sourcePolicy(parsed),
    refreshMs: parsed.refresh,
    allow: parsed.allow,
    backends: {
      template: at.template,
      readTemplate: at.read_template,
      overrides: new Map(Object.entries(at.overrides)),
      readOverrides: new Map(Object.entries(at.read_overrides)),
      tls: at.tls,
      caFile: at.ca_file,
    },
    connect: { attemptTimeoutMs: times.attempt_timeout, budgetMs: times.budget },
  };
}

function sourcePolicy(parsed: ParsedBranches): BranchSourcePolicy {
  const { source: kind, console: hosted, storage: node, static: listed } = parsed;
  switch (kind) {
    case 'console':
      if (hosted === undefined) break;
      return { kind, url: hosted.url, project: hosted.project, apiKeyFile: hosted.api_key_file };
    case 'storage':
      if (node === undefined) break;
      return {
        kind,
        url: node.url,
        tenant: node.tenant,
        namesFile: node.names_file,
        pgVersion: node.pg_version,
        headersFile: node.headers_file,
      };
    case 'static':
      if (listed === undefined) break;
      return { kind, branches: new Map(Object.entries(listed)) };
  }
  throw new Error(`branches: source ${kind} without its section`);
}
