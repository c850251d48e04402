// cluster.kubernetes: the configured values, the values from the pod's environment, and the result.
import { expect, test } from 'vitest';
import { configOf, load, problemsOf } from '../../../support/values/loading.ts';

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '6443' };

function kubernetesOf(text: string, env: Record<string, string> = POD) {
  return configOf(load(`cluster: ${text}`, env)).cluster.kubernetes;
}

test('the scope is enough in a pod: the defaults match Patroni’s', () => {
  expect(kubernetesOf('{ scope: batman, kubernetes: {} }')).toEqual({
    namespace: undefined,
    service: undefined,
    labels: 'application=patroni,cluster-name=batman',
    roleLabel: 'role',
    port: 8008,
    scheme: 'http',
    server: 'https://10.96.0.1:6443',
    credentials: '/var/run/secrets/kubernetes.io/serviceaccount',
  });
});

test('custom labels', () => {
  const text = `{ scope: hippo-ha, kubernetes: {
    labels: postgres-operator.crunchydata.com/cluster=hippo, scope_label: postgres-operator.crunchydata.com/patroni,
    role_label: postgres-operator.crunchydata.com/role, namespace: db, port: patroni, scheme: https } }`;
  expect(kubernetesOf(text)).toMatchObject({
    labels: 'postgres-operator.crunchydata.com/cluster=hippo,postgres-operator.crunchydata.com/patroni=hippo-ha',
    roleLabel: 'postgres-operator.crunchydata.com/role',
    namespace: 'db',
    port: 'patroni',
    scheme: 'https',
  });
});

test('the environment alone', () => {
  const env = {
    ...POD,
    POINTSMAN_CLUSTER_KUBERNETES_SERVICE: 'batman-repl',
    POINTSMAN_CLUSTER_KUBERNETES_PORT: '8009',
  };
  expect(configOf(load('', env)).cluster.kubernetes).toMatchObject({ service: 'batman-repl', port: 8009 });
});

test.each([
  [{}, undefined],
  [{ KUBERNETES_SERVICE_HOST: '10.96.0.1' }, 'https://10.96.0.1:443'],
  [{ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }, 'https://[fd00::1]:443'],
])('the API server by %j is %s', (env, server) => {
  expect(kubernetesOf('{ kubernetes: { service: pg } }', env)?.server).toBe(server);
});

test('the configured API server has precedence, and without the section there is none', () => {
  expect(kubernetesOf('{ kubernetes: { service: pg, server: "https://k8s.test:6443" } }')?.server).toBe(
    'https://k8s.test:6443',
  );
  expect(kubernetesOf('{ seeds: [http://pg1:8008] }')).toBeUndefined();
});

test.each([
  ['{ kubernetes: {} }', 'cluster.kubernetes: pods are found by their label cluster-name=SCOPE: give cluster.scope'],
  ['{ scope: "a b", kubernetes: {} }', 'cluster.scope: "a b" cannot be the value of the label cluster-name'],
  ['{ kubernetes: { service: pg, labels: a=b } }', 'cluster.kubernetes.labels: is for pods: leave it out'],
  ['{ scope: a, kubernetes: { labels: application } }', 'expected labels such as application=patroni,team=a, not'],
  ['{ kubernetes: { service: PG } }', 'expected a name of Kubernetes such as batman-repl, not "PG"'],
  ['{ kubernetes: { service: pg, port: 0 } }', 'expected a port such as 8008, or the name of one, not 0'],
  ['{ kubernetes: { service: pg, port: Patroni } }', 'expected a port such as 8008, or the name of one, not "Patroni"'],
  ['{ kubernetes: { service: pg, server: "http://k8s:6443" } }', 'expected the URL of an API server such as https://'],
  ['{ kubernetes: { servce: pg } }', 'did you mean cluster.kubernetes.service?'],
  ['{ discovery: kubernetes, seeds: [http://a:8008] }', 'write cluster.kubernetes: { service: NAME }'],
])('%s', (text, expected) => {
  const problems = problemsOf(load(`cluster: ${text}`, {}));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
});
