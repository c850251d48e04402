// cluster.kubernetes: the words of Patroni's own section of that name, checked, and made the selectors that the API takes. In a pod the
// API server is in the environment; elsewhere it is given.
import { z } from 'zod';
import type { KubernetesConfig } from '../config.ts';
import type { Environment } from '../source/environment.ts';
import { error } from '../finding.ts';
import type { Finding } from '../finding.ts';
import type { Path } from '../problem.ts';
import { isTree } from '../source/tree.ts';
import type { Tree } from '../source/tree.ts';
import { choice, matching, nonEmpty, portOrName } from './values.ts';

/** Patroni's defaults. */
const LABELS = 'application=patroni';
const SCOPE_LABEL = 'cluster-name';
const ROLE_LABEL = 'role';

const VALUE = String.raw`[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?`;
const KEY = String.raw`(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?${VALUE}`;
const pattern = (text: string): RegExp => new RegExp(`^(?:${text})$`);

const labelKey = matching('a label such as cluster-name', pattern(KEY));
const objectName = matching('a name of Kubernetes such as batman-repl', /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);

export const kubernetes = z.strictObject({
  service: objectName.optional(),
  labels: matching(
    'labels such as application=patroni,team=a',
    pattern(`${KEY}=${VALUE}(?:,${KEY}=${VALUE})*`),
  ).optional(),
  scope_label: labelKey.optional(),
  role_label: labelKey.optional(),
  namespace: objectName.optional(),
  port: portOrName.default(8008),
  scheme: choice(['http', 'https']).default('http'),
  server: matching(
    'the URL of an API server such as https://10.96.0.1:443',
    /^https:\/\/(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}$/,
  ).optional(),
  credentials: nonEmpty.default('/var/run/secrets/kubernetes.io/serviceaccount'),
});

type Parsed = z.output<typeof kubernetes>;

/** In every pod the kubelet says where the API server is. */
export function withApiServer(tree: Tree, env: Environment): Tree {
  const { cluster } = tree;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!isTree(cluster) || !isTree(cluster['kubernetes']) || host === undefined || host === '') return tree;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { ...tree, cluster: { ...cluster, kubernetes: { server, ...cluster['kubernetes'] } } };
}

export function kubernetesConfig(parsed: Parsed, scope: string | undefined): KubernetesConfig {
  const { labels = LABELS, scope_label: scopeLabel = SCOPE_LABEL, role_label: roleLabel = ROLE_LABEL } = parsed;
  const { namespace, service, port, scheme, server, credentials } = parsed;
  return {
    namespace,
    service,
    labels: `${labels},${scopeLabel}=${scope}`,
    roleLabel,
    port,
    scheme,
    server,
    credentials,
  };
}

const AT: Path = ['cluster', 'kubernetes'];

export function kubernetesRules(parsed: Parsed | undefined, scope: string | undefined): readonly Finding[] {
  if (parsed === undefined) return [];
  const { service } = parsed;
  const scopePath: Path = ['cluster', 'scope'];
  if (service !== undefined) {
    return (['labels', 'scope_label', 'role_label'] as const).flatMap((key) =>
      parsed[key] === undefined ? [] : [error(`is about pods: leave it out, or leave out service`, [...AT, key], AT)],
    );
  }
  const label = parsed.scope_label ?? SCOPE_LABEL;
  if (scope === undefined) {
    return [
      error(`pods are found by their label ${label}=SCOPE: give cluster.scope, or kubernetes.service`, AT, scopePath),
    ];
  }
  if (pattern(VALUE).test(scope)) return [];
  return [error(`"${scope}" is no value that the label ${label} can have: give kubernetes.service`, scopePath, AT)];
}
