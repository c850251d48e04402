// The shape of the file: every key, its description, its default and what it accepts. Unknown keys are errors. Defaults
// that depend on other keys are in defaults.ts; what one value alone cannot decide is in rules/.
import { z } from 'zod';
import { ACCESS_LOGS, LOG_FORMATS, LOG_LEVELS } from './log-options.ts';
import { branches } from './branches-section.ts';
import { cluster } from './cluster-section.ts';
import { incidents } from './incidents-section.ts';
import { backend } from './backend-section.ts';
import { key } from './key.ts';
import { listener } from './listener-section.ts';
import { logins } from './logins-section.ts';
import { moves } from './moves-section.ts';
import { platform } from './platform-section.ts';
import { pool } from './pool-section.ts';
import { probe } from './probe-section.ts';
import { questions } from './questions-section.ts';
import {
  LEAST_SECRET,
  MAX_COUNT,
  address,
  adminHost,
  anyCase,
  choice,
  count,
  countOr,
  duration,
  durationOrOff,
  flag,
  listenAddress,
  name,
  nonEmpty,
  secret,
} from './values.ts';

const MAX_WORKERS = 256;
const MOST_PEERS = 16;

const client = z.strictObject({
  startup_timeout: key(
    duration(1).prefault('10s'),
    `Time that a client has until its startup message is complete, a TLS handshake included. The clock stands still
    while Pointsman makes the client wait.`,
  ),
  max_sessions: key(
    count(1, MAX_COUNT).default(5000),
    `Client connections at one time, over all listeners, waiting clients included. Each process needs a limit on open
    files of 2 x max_sessions + 1024; with a lower limit fewer sessions are served, and the log warns at the start.`,
  ),
  max_sessions_per_address: key(
    countOr('off', 1, MAX_COUNT).prefault('off'),
    'The same for one client address. Set it where one application could use up all sessions.',
  ),
  max_handshakes: key(
    countOr('off', 1, MAX_COUNT).optional(),
    `Clients at one time that are in a TLS handshake or have not sent their startup message. When this limit or
    \`max_sessions\` is reached, the client that was silent longest (at least 1 s) is dropped first.`,
    { usual: 'a quarter of `max_sessions`, at least 1000', example: '2000' },
  ),
  max_disconnects_per_second: key(
    count(1, MAX_COUNT).default(50),
    `Sessions that end per second for a reason that can wait: a drain, their age, a listener that was removed. Each of
    them reconnects, so this limits the load of reconnects.`,
  ),
  tcp_keepalives_idle: key(
    durationOrOff(1000).prefault('30s'),
    `A client that has sent nothing for this long is asked for a sign of life by the kernel (TCP keepalive). After 10
    probes without an answer, one per second, its session ends with \`client_tcp_timeout\`. \`off\`: a client that
    vanishes between two statements holds its session for ever.`,
  ),
  tcp_user_timeout: key(
    durationOrOff(5000).prefault('60s'),
    `A client whose host acknowledges none of the bytes on the way to it for this long has vanished: its session ends
    with \`client_tcp_timeout\`, at most 40 % of it (or 22 s) later. A client that only reads slowly stays. \`off\`,
    and on other systems than Linux: the kernel decides, after about 15 minutes (\`net.ipv4.tcp_retries2\`).`,
  ),
  tls: key(
    z
      .strictObject({
        mode: key(
          choice(['passthrough', 'terminate', 'require']).default('passthrough'),
          `\`passthrough\`: clients negotiate TLS end to end with the member. \`terminate\`: Pointsman answers a request
          for TLS with \`cert\` and \`key\`; \`backend.tls\` encrypts the way to the member. \`require\`: the same, and
          plain text is refused.`,
        ),
        cert: key(
          nonEmpty.optional(),
          'A PEM file with the certificate and its chain, for `terminate` and `require`. Read again every 5 s.',
          { example: '/etc/pointsman/tls.crt' },
        ),
        key: key(nonEmpty.optional(), 'The PEM file with the private key of `cert`, without a passphrase.', {
          example: '/etc/pointsman/tls.key',
        }),
      })
      .prefault({}),
    'TLS towards clients.',
  ),
});

const hold = z.strictObject({
  client_timeout: key(
    duration(0).prefault('30s'),
    `How long one client waits at most. Then it is refused with SQLSTATE 57P03. Set it a little below the connect
    timeout of your clients. 0: nobody waits.`,
  ),
  max_sessions: key(count(0, MAX_COUNT).default(1000), 'Clients that wait at one time. The next one is refused.'),
  outage_timeout: key(
    duration(0).prefault('60s'),
    `When a pool has had no member for this long, new clients are refused at once. It must not be shorter than
    \`client_timeout\`.`,
  ),
  max_connects_per_second: key(
    count(1, MAX_COUNT).default(200),
    'Waiting clients that are connected per second once a member is there. Lower it to protect a new primary.',
  ),
  before_switchover: key(
    duration(0).optional(),
    `New clients of the primary wait from this long before a scheduled switchover until the new primary is confirmed,
    also for one that another tool has scheduled. Existing sessions stay; with the section moves, those that can move
    are parked meanwhile. 0: they wait only from the moment the primary reports that it stops.`,
    { example: '2s', usual: '`1s`, or `0` where `client_timeout` is not longer than that' },
  ),
});

const shutdown = z.strictObject({
  grace: key(
    duration(0).prefault('5s'),
    'From SIGTERM on readiness fails, but new clients are served for this long: time for load balancers to notice.',
  ),
  wait: key(
    duration(0).prefault('0s'),
    'Then the listeners are closed, and sessions may end by themselves for this long.',
  ),
  drain_timeout: key(
    duration(0).prefault('30s'),
    `Then sessions end between two transactions, faster than \`client.max_disconnects_per_second\` if needed. The
    rest is closed after this time. The supervisor (systemd, Kubernetes) must allow the sum of all three.`,
  ),
});

const admin = z.strictObject({
  address: key(
    listenAddress.prefault('127.0.0.1:8432'),
    'Host and port. Stay on loopback unless you trust the network.',
    {
      needsRestart: true,
    },
  ),
  allowed_hosts: key(
    z.array(adminHost).prefault([]),
    `Public host names that /metrics and /status answer to, or \`['*']\` for any name. IP addresses, the machine's own
    name and names that public DNS does not have always work. This protects against DNS rebinding.`,
    { example: '[metrics.example.com]' },
  ),
  token: key(
    secret.optional(),
    `The token for operations (every POST: drain, resume, refresh, reload, accept), at least ${LEAST_SECRET} characters.
    Without a token operations are off. Better given as POINTSMAN_ADMIN_TOKEN or \`token_file\`.`,
    { example: 'a-secret-of-at-least-16-characters', usual: 'operations are off', isSecret: true },
  ),
  token_file: key(nonEmpty.optional(), 'A file that holds the token. It is read at every request.', {
    example: '/etc/pointsman/token',
    usual: 'operations are off',
  }),
  console: key(
    z
      .strictObject({
        address: key(
          listenAddress.optional(),
          `Host and port. Stay on loopback unless you trust the network: there is no TLS. Clients log in with the admin
          token as password; without a token the console serves only clients on its own host.`,
          { example: '127.0.0.1:6430', usual: 'the console is off', needsRestart: true },
        ),
      })
      .prefault({}),
    'A read-only console in the PostgreSQL protocol: `psql -h HOST -p PORT pointsman`, then `SHOW HELP`.',
  ),
});

const log = z.strictObject({
  level: key(
    anyCase(LOG_LEVELS).prefault('info'),
    `The least severe level that is logged. At \`info\`, refused clients and failed connects are summed up once per
    second; at \`debug\` each has its own line.`,
  ),
  format: key(choice(LOG_FORMATS).default('auto'), '`auto`: `pretty` on a terminal, else `json`.', {
    needsRestart: true,
  }),
  access: key(
    choice(ACCESS_LOGS).default('off'),
    `The access log, whatever \`level\` is. \`closed\`: a line when a client connection ends: user, database, client,
    application, member, pool, TLS, duration, bytes and reason. \`all\`: also a line when it is connected to a member.
    These lines are personal data in most countries; statements and passwords are never in the log.`,
    { example: 'closed' },
  ),
});

/** The file as a schema: input is what was written (after defaults.ts), output has milliseconds, bytes and checks. */
export const fileSchema = z.strictObject({
  cluster: key(
    cluster.prefault({}),
    'The cluster: its name, where its members are found, and which addresses may be contacted.',
  ),
  zone: key(
    nonEmpty.optional(),
    'The zone of this Pointsman, for pools with a `zone_tag`. Often given to each instance as POINTSMAN_ZONE.',
    { example: 'eu-1a', usual: 'no zone' },
  ),
  probe: key(probe.prefault({}), 'How often members are probed, and for how long an answer counts.'),
  pools: key(
    z.record(name, pool),
    `Pools by name. A pool is the set of members that answer its check; it is not a connection pool. The pools \`write\`
    and \`read\` exist by themselves and can be changed in part. The environment can change a pool of the file, but not
    add one.`,
    { usual: '`write` and `read`', example: '{ reports: { check: "/replica?lag=1GB", fallback: { pool: read } } }' },
  ),
  listeners: key(
    z
      .array(listener)
      .min(1, { error: 'is empty: at least one listener is needed, or leave the key out for the two usual ones' }),
    'Where clients connect, and which pool they get there. A list in the file replaces the default.',
    { usual: '127.0.0.1:6432 for `write`, 127.0.0.1:6433 for `read`' },
  ),
  client: key(client.prefault({}), 'Limits and TLS towards clients.'),
  backend: key(backend.prefault({}), 'Connects to members.'),
  hold: key(hold.prefault({}), 'While a pool has no member its clients wait (they are held) within these limits.'),
  fleet: key(
    flag.default(false),
    `Several Pointsmen serve this cluster, as sidecars do: \`pointsman switchover\` asks the cluster for a scheduled
    switchover, so that each of them holds its clients and parks its sessions (\`hold.before_switchover\`).`,
  ),
  peers: key(
    z
      .array(address)
      .max(MOST_PEERS, { error: `names more than ${MOST_PEERS} peers: a DNS name with all their addresses is one` })
      .prefault([]),
    `The other Pointsmen behind the same address, each at a port where it serves clients: \`host:port\`, or a DNS name
    that has the addresses of all of them, such as a headless Service. This Pointsman may be among them. A cancel
    request may arrive at one that does not have its session: it is offered to them, before it goes to the members. All
    of them need this setting.`,
    { example: "['pointsman-metrics:5432']" },
  ),
  branches: key(
    branches.optional(),
    `Branches as targets: clients connect to \`DATABASE@BRANCH\` on the listeners of the pools. Without this section
    there are none. A pool has precedence over a branch of its name.`,
    { example: '{ source: static, static: { pr-1: 10.0.0.9:55432 } }' },
  ),
  moves: key(
    moves.optional(),
    `Sessions that go to another server between two transactions, so that their clients notice nothing. Without this
    section every session ends with its server, and Pointsman keeps nothing of a login.`,
    { example: '{ roles: [app], verifiers: { file: /etc/pointsman/userlist.txt } }' },
  ),
  logins: key(
    logins.optional(),
    `Logins that bind to a certificate (channel binding) where TLS ends at Pointsman. Without this section such a client
    logs in only if Pointsman and the member show one certificate. Other logins need nothing.`,
    { example: '{ roles: [app] }' },
  ),
  questions: key(
    questions.optional(),
    `The login that asks the servers which WAL they have written and replayed, for pools with \`causal_reads\`. One
    connection to the primary and to each replica of such a pool, for each process, while reads need them.`,
    { example: '{ user: pointsman_monitor, password_file: /run/secrets/pointsman-monitor }' },
  ),
  relay: key(
    choice(['auto', 'streams']).default('auto'),
    `How bytes get from client to member and back. \`auto\`: below Node's streams, which costs less processor time, if
    the self-test at the start succeeds (the log reports it). \`streams\`: always through Node's streams. Change it only
    to rule this out as the cause of a problem.`,
    { needsRestart: true },
  ),
  workers: key(
    countOr('auto', 1, MAX_WORKERS).default(1),
    `Processes that serve clients, all on the same ports. 1: one process does everything, right for a sidecar. \`auto\`:
    one for each processor that may be used. More than one needs Linux. Limits on numbers apply to all of them together
    and may be exceeded by what the others admit within 50 ms; rates are divided.`,
    { needsRestart: true },
  ),
  shutdown: key(shutdown.prefault({}), 'The steps after SIGTERM, in this order: grace, wait, drain.'),
  admin: key(
    admin.prefault({}),
    'HTTP for operators: /livez, /readyz, /metrics, /status, and operations with a token.',
  ),
  incidents: key(
    incidents.prefault({}),
    'Where incidents are kept, and how many: the record of each outage, with its events and findings.',
  ),
  platform: key(
    platform.optional(),
    `A model platform, for the commands that upload incidents and publish skills. The running Pointsman never uses it.
    Without this section these commands report which keys to set.`,
    {
      example: '{ url: "https://platform.internal", api_key_file: /run/secrets/platform, beta_header: vendor-beta }',
    },
  ),
  log: key(log.prefault({}), 'The log, on standard output.'),
});

export type ParsedFile = z.output<typeof fileSchema>;
export type ParsedPool = ParsedFile['pools'][string];
