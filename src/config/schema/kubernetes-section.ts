// The section `cluster.kubernetes`: the words of Patroni's own section of that name, and the selectors that follow from
// them. In a pod the address of the API server is in the environment; elsewhere the file gives it.
import { z } from 'zod';
import type { KubernetesConfig } from '../../model/cluster-config.ts';
import { key } from './key.ts';
import { choice, matching, nonEmpty, portOrName } from './values.ts';

/** Patroni's defaults. */
const LABELS = 'application=patroni';
export const SCOPE_LABEL = 'cluster-name';
const ROLE_LABEL = 'role';

const VALUE = String.raw`[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?`;
const KEY = String.raw`(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?${VALUE}`;
const pattern = (text: string): RegExp => new RegExp(`^(?:${text})$`);

/** A value that a label can have. */
export const LABEL_VALUE = pattern(VALUE);

const labelKey = matching('a label such as cluster-name', pattern(KEY));
const objectName = matching('a name of Kubernetes such as batman-repl', /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);

export const kubernetes = z.strictObject({
  service: key(
    objectName.optional(),
    `A Service whose endpoints are the places to start from, ready or not. Needs \`get\`, \`list\` and \`watch\` on
    endpointslices. Instead of the three keys about labels.`,
    { example: 'batman-repl' },
  ),
  labels: key(
    matching('labels such as application=patroni,team=a', pattern(`${KEY}=${VALUE}(?:,${KEY}=${VALUE})*`)).optional(),
    'Labels that all pods of the cluster have. Needs `get`, `list` and `watch` on pods.',
    { example: 'application=spilo', usual: `\`${LABELS}\`` },
  ),
  scope_label: key(labelKey.optional(), 'The label that holds the scope.', {
    example: 'cluster-name',
    usual: `\`${SCOPE_LABEL}\``,
  }),
  role_label: key(
    labelKey.optional(),
    'The label that holds the role. A change triggers an earlier probe; it is never evidence.',
    { example: 'spilo-role', usual: `\`${ROLE_LABEL}\`` },
  ),
  namespace: key(objectName.optional(), 'The namespace of the pods or of the Service.', {
    example: 'databases',
    usual: 'the namespace that Pointsman runs in',
  }),
  port: key(
    portOrName.prefault(8008),
    'The port of the management API: its number, or its name in the pod or Service.',
  ),
  scheme: key(choice(['http', 'https']).default('http'), 'How the management APIs are contacted.'),
  server: key(
    matching(
      'the URL of an API server such as https://10.96.0.1:443',
      /^https:\/\/(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}$/,
    ).optional(),
    'The URL of the Kubernetes API server.',
    { example: 'https://10.96.0.1:443', usual: 'the API server of the cluster that Pointsman runs in' },
  ),
  credentials: key(
    nonEmpty.prefault('/var/run/secrets/kubernetes.io/serviceaccount'),
    'A folder with the files `token`, `ca.crt` and `namespace`, as Kubernetes mounts a service account.',
  ),
});

export type ParsedKubernetes = z.output<typeof kubernetes>;

export function kubernetesConfig(parsed: ParsedKubernetes, scope: string | undefined): KubernetesConfig {
  const {
    labels = LABELS,
    scope_label: scopeLabel = SCOPE_LABEL,
    role_label: roleLabel = ROLE_LABEL,
    ...same
  } = parsed;
  return { ...same, labels: `${labels},${scopeLabel}=${scope}`, roleLabel };
}
