// The section `cluster`: the name of the cluster, where its members are found, and which addresses may be contacted.
import { z } from 'zod';
import { key } from './key.ts';
import { kubernetes } from './kubernetes-section.ts';
import {
  address,
  apiUrl,
  choice,
  count,
  flag,
  hostName,
  network,
  nonEmpty,
  password,
  seed,
  userName,
} from './values.ts';

/** Values that people try for `discovery`, each with what to write instead. */
const DIRECTORIES = {
  kubernetes: 'write cluster.kubernetes: { service: NAME }, or the labels of the pods',
  dns: 'names in cluster.seeds are looked up; for SRV records write http+srv://_patroni._tcp.example.org there',
};

const member = key(
  z.strictObject({
    name: key(nonEmpty, 'The name that the member has in its own configuration (`name` in patroni.yml).'),
    api: key(apiUrl, 'The URL of its management API.', { example: 'http://10.0.0.11:8008' }),
    postgres: key(
      address.optional(),
      'The address of its PostgreSQL. Left out, the address that `GET /cluster` reports is used.',
      { example: '10.0.0.11:5432' },
    ),
  }),
  'One member.',
);

const allow = z.strictObject({
  networks: key(z.array(network).prefault([]), 'Networks whose addresses may be contacted, in CIDR notation.', {
    example: '[203.0.113.0/24]',
  }),
  hosts: key(z.array(hostName).prefault([]), 'Host names that may be contacted, without wildcards.', {
    example: '[db2.example.org]',
  }),
  ports: key(z.array(count(1, 65_535)).prefault([]), 'Ports that may be contacted, for the API and for PostgreSQL.', {
    example: '[6000]',
  }),
});

const tls = z.strictObject({
  ca: key(
    nonEmpty.optional(),
    `A PEM file with the certificate authorities that sign the APIs' certificates. This file and the next two are read
    again every 5 s; while one of them cannot be used, the last good content of all counts.`,
    {
      usual: 'the authorities that Node.js knows',
      example: '/etc/pointsman/ca.crt',
    },
  ),
  cert: key(
    nonEmpty.optional(),
    `A PEM file with the client certificate. Where Patroni has \`verify_client: required\`, every request needs it; with
    \`optional\`, those that change something (a switchover, a restart).`,
    { example: '/etc/pointsman/client.crt' },
  ),
  key: key(nonEmpty.optional(), 'The PEM file with the private key of `cert`, without a passphrase.', {
    example: '/etc/pointsman/client.key',
  }),
  insecure: key(
    flag.default(false),
    `True: the APIs' certificates are not verified. Anybody who answers at a member's address can then redirect the
    writes. For tests only.`,
  ),
});

const auth = z.strictObject({
  username: key(userName, 'The user name (`restapi.authentication.username` in patroni.yml).', { example: 'patroni' }),
  password: key(
    password.optional(),
    'The password. Better given as POINTSMAN_CLUSTER_API_AUTH_PASSWORD or `password_file`.',
    { example: "'in quotes'", isSecret: true },
  ),
  password_file: key(
    nonEmpty.optional(),
    'A file that holds the password. It is read for each request that needs it. A line end in it does not count.',
    { example: '/etc/pointsman/password' },
  ),
});

export const cluster = z.strictObject({
  scope: key(
    nonEmpty.optional(),
    `The name of the cluster (\`scope\` in patroni.yml). Answers of another cluster are ignored. Left out, the first
    answer decides. Set it where a wrong seed could reach another cluster. A reload that changes it leaves the whole
    section as it was.`,
    { example: 'batman', usual: 'the scope in the first answer', needsRestart: true },
  ),
  seeds: key(
    z.array(seed).prefault([]),
    `Management APIs to start from; the other members are discovered. One is enough, two or three survive the loss of
    one. Each address of a host name is a place to start from (a headless Service, for example).
    \`http+srv://_patroni._tcp.example.org\` uses the hosts and ports of SRV records. At least one seed, one entry in
    \`members\` or the section \`kubernetes\` is needed.`,
    { example: '[http://10.0.0.11:8008, http://10.0.0.12:8008]' },
  ),
  kubernetes: key(
    kubernetes.optional(),
    `Finds places to start from with the Kubernetes API: the pods that Patroni labels, or the endpoints of a Service.
    \`kubernetes: {}\` uses Patroni's default labels and needs \`scope\`.`,
    { example: '{ service: batman-repl }' },
  ),
  discovery: key(
    choice(['dynamic', 'static'], DIRECTORIES).default('dynamic'),
    '`dynamic`: all members that `GET /cluster` lists are used. `static`: only the seeds and `members` are used.',
  ),
  members: key(
    z.array(member).prefault([]),
    'Members that stay known by name even when `GET /cluster` does not list them.',
    { example: '[{ name: pg-1, api: http://10.0.0.11:8008, postgres: 10.0.0.11:5432 }]' },
  ),
  allow: key(
    allow.prefault({}),
    `Addresses that may be contacted in addition. Without it a discovered member is contacted on the hosts of the
    seeds, in private networks if a seed is in one, at the API ports of the seeds, and at PostgreSQL port 5432 or the
    port that a seed reports for itself.`,
  ),
  api: key(
    z
      .strictObject({
        tls: key(tls.optional(), 'TLS towards the management APIs, for seeds and members with `https`.', {
          example: '{ ca: /etc/pointsman/ca.crt }',
        }),
        auth: key(
          auth.optional(),
          `Credentials for requests that change the cluster, as HTTP basic authentication. A request that only reads,
          a probe too, carries them only to an API that answered 401 without them.`,
          { example: '{ username: patroni, password_file: /etc/pointsman/password }' },
        ),
      })
      .prefault({}),
    'How the management APIs are contacted.',
  ),
});
