// The chart, rendered with every set of values in its ci/ folder, with single values, and with values that it must
// refuse.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { alertsOf, kindsOf, manifestsOf, portsTo, valuesSetBy } from '../../support/deploy/chart-readers.ts';
import { holdManifests, loadedBy } from '../../support/deploy/hold-manifests.ts';
import { dashboardFiles } from '../../support/deploy/monitoring/dashboards/all.ts';
import { manifestOf, parseManifests, podSpecOf, pointsmanIn } from '../../support/deploy/manifests.ts';
import type { Manifest } from '../../support/deploy/manifests.ts';
import { REFUSED_VALUES } from '../../support/deploy/refused-values.ts';
import { CHART, createChartRenderer, missingHelm, RELEASE, valueSets } from '../../support/deploy/render-chart.ts';
import type { ChartRenderer, Rendered } from '../../support/deploy/render-chart.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const sets = await valueSets();
/** `library` renders no pod; the example of an application's chart renders it. */
const setsWithPods = sets.filter((set) => set !== 'library-values.yaml');
const MONITORED = { monitoring: { enabled: true } };
let chart: ChartRenderer;
let directory: string;
let files = 0;

async function rendered(set: string): Promise<readonly Manifest[]> {
  return manifestsOf(await chart.render(join(CHART, 'ci', set)));
}

/** The text that helm prints after an installation with this set. */
function notes(set: string): Promise<string> {
  return chart.notes(join(CHART, 'ci', set));
}

/** Renders `values` with seeds, which every release needs. */
async function renderedWith(values: Readonly<Record<string, unknown>>): Promise<Rendered> {
  const file = join(directory, `${files++}.yaml`);
  await writeFile(file, stringify({ cluster: { seeds: ['http://postgres:8008'] }, ...values }));
  return chart.render(file);
}

/** The section `cluster` of the configuration, as the program loads it. */
async function clusterOf(values: Readonly<Record<string, unknown>>) {
  const manifests = manifestsOf(await renderedWith(values));
  return loadedBy(manifests, podSpecOf(manifestOf(manifests, 'Deployment'))).cluster;
}

async function alertsOfLibrary(alerts: object): Promise<readonly string[]> {
  const outcome = await renderedWith({ mode: 'library', monitoring: { enabled: true, alerts } });
  return alertsOf(manifestsOf(outcome)).map(({ alert }) => alert);
}

describeUnless(missingHelm, 'with helm or its stand-in', () => {
  beforeAll(async () => {
    chart = await createChartRenderer();
    directory = await mkdtemp(join(tmpdir(), 'pointsman-values-'));
  }, 240_000);

  afterAll(async () => {
    await chart.remove();
    await rm(directory, { recursive: true });
  });

  test.each(setsWithPods)('%s: Kubernetes and Pointsman accept it', async (set) => {
    await holdManifests(await rendered(set));
  });

  test('no two resources have the same kind and name', async () => {
    for (const set of sets) {
      const names = (await rendered(set)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(names).size, set).toBe(names.length);
    }
  });

  test('a resource that is switched off is not rendered, and all others are', async () => {
    const least = ['ConfigMap', 'Deployment', 'Pod', 'Service', 'Service', 'Service'];
    expect(kindsOf(await rendered('fixed-values.yaml'))).toEqual(least);
    expect(manifestOf(await rendered('fixed-values.yaml'), 'Deployment')).toMatchObject({ spec: { replicas: 3 } });
    const standard = [...least, 'NetworkPolicy', 'PodDisruptionBudget', 'ServiceAccount'];
    expect(kindsOf(await rendered('default-values.yaml'))).toEqual(standard.toSorted());
    expect(manifestOf(await rendered('default-values.yaml'), 'Deployment')).toMatchObject({ spec: { replicas: 2 } });
    const monitoring = await rendered('monitoring-values.yaml');
    const dashboards = ['ConfigMap', 'ConfigMap', 'ConfigMap'];
    const all = [...standard, ...dashboards, 'HorizontalPodAutoscaler', 'PrometheusRule', 'ServiceMonitor'];
    expect(kindsOf(monitoring)).toEqual(all.toSorted());
    expect(manifestOf(monitoring, 'Deployment')).not.toHaveProperty('spec.replicas');
    expect(kindsOf(await rendered('load-balancer-values.yaml'))).not.toContain('Pod');
    expect(kindsOf(await rendered('library-values.yaml'))).toEqual(['ConfigMap', 'PodMonitor', 'PrometheusRule']);
    expect(kindsOf(await rendered('discovery-values.yaml'))).toEqual([...standard, 'Role', 'RoleBinding'].toSorted());
    expect(kindsOf(await rendered('sidecar-values.yaml'))).toEqual(
      ['ConfigMap', 'Deployment', 'PodMonitor', 'PrometheusRule', 'ServiceAccount'].toSorted(),
    );
  });

  test.each(['discovery-values.yaml', 'discovery-service-values.yaml'])('%s: rights and token', async (set) => {
    const manifests = await rendered(set);
    expect(podSpecOf(manifestOf(manifests, 'Deployment'))).toMatchObject({ automountServiceAccountToken: true });
    expect(manifestOf(manifests, 'RoleBinding')).toMatchObject({ subjects: [{ namespace: RELEASE.namespace }] });
    expect(portsTo(manifestOf(manifests, 'NetworkPolicy'))).toContain(6443);
    expect(portsTo(manifestOf(await rendered('default-values.yaml'), 'NetworkPolicy'))).not.toContain(6443);
    const without = podSpecOf(manifestOf(await rendered('default-values.yaml'), 'Deployment'));
    expect(without).toMatchObject({ automountServiceAccountToken: false });
  });

  test('one switch for discovery: no seeds are needed, and the settings in `cluster` pass through', async () => {
    const { seeds, kubernetes: found } = await clusterOf({ cluster: { scope: 'batman' }, kubernetesDiscovery: true });
    expect([seeds, found?.labels, found?.service]).toEqual([[], 'application=patroni,cluster-name=batman', undefined]);
    // Explicit settings switch it on too.
    const kubernetes = { scope_label: 'team', labels: 'application=spilo' };
    expect(await clusterOf({ cluster: { scope: 'batman', kubernetes } })).toMatchObject({
      kubernetes: { labels: 'application=spilo,team=batman' },
    });
    const service = { cluster: { kubernetes: { service: 'batman-repl', port: 8009 } } };
    expect(await clusterOf(service)).toMatchObject({ seeds: [], kubernetes: { service: 'batman-repl', port: 8009 } });
    expect((await clusterOf({})).kubernetes).toBeUndefined();
  });

  test('a static cluster needs no seeds', async () => {
    const members = [{ name: 'pg-1', api: 'http://10.0.0.11:8008', postgres: '10.0.0.11:5432' }];
    expect(await clusterOf({ cluster: { discovery: 'static', members } })).toMatchObject({ discovery: 'static' });
  });

  test('files and variables: the API over TLS, a setting from the environment', async () => {
    const manifests = await rendered('api-tls-values.yaml');
    const pod = podSpecOf(manifestOf(manifests, 'Deployment'));
    expect(loadedBy(manifests, pod)).toMatchObject({ zone: 'eu-1', cluster: { api: { tls: { insecure: false } } } });
    expect(pointsmanIn(pod)).toMatchObject({
      envFrom: [{ configMapRef: { name: 'pointsman-environment' } }],
      volumeMounts: expect.arrayContaining([{ name: 'api-ca', mountPath: '/etc/patroni-ca', readOnly: true }]),
    });
    expect(pod).toMatchObject({
      volumes: expect.arrayContaining([{ name: 'api-ca', secret: { secretName: 'patroni-ca' } }]),
    });
  });

  test('the zone of a pod comes from its label', async () => {
    const manifests = await rendered('zone-values.yaml');
    expect(loadedBy(manifests, podSpecOf(manifestOf(manifests, 'Deployment'))).zone).toBe('eu-1');
  });

  test('names, labels, annotations, the image and the settings of pods', async () => {
    const manifests = await rendered('names-values.yaml');
    for (const { metadata, kind } of manifests) {
      expect(metadata.name, kind).toMatch(/^orders-database(-read|-metrics|-test)?$/);
      expect(metadata, kind).toMatchObject({
        labels: { 'app.kubernetes.io/name': 'pm', 'helm.sh/chart': 'pointsman-0.1.0', owner: 'data' },
        annotations: { 'example.org/contact': 'data' },
      });
    }
    const deployment = manifestOf(manifests, 'Deployment');
    const selector = { 'app.kubernetes.io/name': 'pm', 'app.kubernetes.io/instance': 'orders' };
    expect(deployment).toMatchObject({
      spec: {
        selector: { matchLabels: selector },
        revisionHistoryLimit: 0,
        minReadySeconds: 5,
        template: {
          metadata: {
            labels: { ...selector, owner: 'data', tier: 'proxy' },
            annotations: { 'example.org/contact': 'data', 'example.org/scan': 'no' },
          },
          spec: {
            priorityClassName: 'system-cluster-critical',
            securityContext: { fsGroup: 65_532, runAsNonRoot: true },
            topologySpreadConstraints: [{ labelSelector: { matchLabels: selector } }],
          },
        },
      },
    });
    const repository = 'registry.example.org/mirror/ours/pointsman';
    expect(pointsmanIn(podSpecOf(deployment)).image).toMatch(new RegExp(`^${repository}@sha256:[0-9a-f]{64}$`));
  });

  test('without explicit names the release names everything, in the labels that select pods', async () => {
    const [metadata] = (await rendered('default-values.yaml')).map((one) => one.metadata);
    expect(metadata).toMatchObject({ name: 'orders-pointsman', labels: { 'app.kubernetes.io/name': 'pointsman' } });
  });

  test('Services for clients outside of the cluster', async () => {
    const manifests = await rendered('load-balancer-values.yaml');
    for (const [name, nodePort] of Object.entries({ 'orders-pointsman': 30_432, 'orders-pointsman-read': 30_433 })) {
      const { spec, metadata } = manifestOf(manifests, 'Service', name);
      expect(metadata).toMatchObject({ annotations: { 'example.org/internal': 'true' } });
      expect(spec).toMatchObject({
        type: 'LoadBalancer',
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        externalTrafficPolicy: 'Local',
        trafficDistribution: 'PreferClose',
        ports: [{ port: 5432, nodePort }],
      });
      expect(spec).not.toHaveProperty('ports.0.appProtocol');
    }
    const [plain] = (await rendered('default-values.yaml')).filter(({ kind }) => kind === 'Service');
    expect(plain).toMatchObject({ spec: { ports: [{ appProtocol: 'tcp' }] } });
    expect(plain).not.toHaveProperty('spec.externalTrafficPolicy');
  });

  test('the NetworkPolicy: ports of DNS, also those of OpenShift, and of the members', async () => {
    const ports = portsTo(manifestOf(await rendered('default-values.yaml'), 'NetworkPolicy'));
    expect(ports).toEqual([53, 53, 5353, 5353, 5432, 8008, 'write']);
    const own = manifestOf(await rendered('load-balancer-values.yaml'), 'NetworkPolicy');
    expect(portsTo(own)).toEqual([53, 53, 5432, 8008, 9000, 'write']);
    expect(own).toMatchObject({ spec: { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }, {}] }, {}, {}] } });
  });

  test('other settings of pointsman.yaml pass through, and roll the pods', async () => {
    const manifests = await rendered('fixed-values.yaml');
    const { hold } = loadedBy(manifests, podSpecOf(manifestOf(manifests, 'Deployment')));
    expect(hold).toMatchObject({ beforeSwitchoverMs: 2000 });
    const [one, two] = await Promise.all(
      ['1s', '2s'].map(async (interval) => {
        const outcome = await renderedWith({ config: { probe: { interval } } });
        return manifestOf(manifestsOf(outcome), 'Deployment')['spec'];
      }),
    );
    expect(one).not.toEqual(two);
  });

  test.each([12, 13, 29, 60, 61, 119, 120, 600, 86_400])('shutdownSeconds %i is divided by the rules', async (s) => {
    const sidecar = { mode: 'sidecar', application: { containers: [{ name: 'a', image: 'a' }] } };
    for (const mode of [{}, sidecar]) {
      const manifests = manifestsOf(await renderedWith({ ...mode, shutdownSeconds: s }));
      const pod = podSpecOf(manifestOf(manifests, 'Deployment'));
      expect(pod.terminationGracePeriodSeconds).toBe(s);
      await holdManifests(manifests);
    }
  });

  test("a chart of an application's own: the sidecar by template, its configuration from the subchart", async () => {
    const manifests = manifestsOf(await chart.renderApplication());
    expect(kindsOf(manifests)).toEqual(['ConfigMap', 'Deployment']);
    await holdManifests(manifests);
    const pod = podSpecOf(manifestOf(manifests, 'Deployment'));
    expect(pod).toMatchObject({ containers: [{ lifecycle: { preStop: { sleep: { seconds: 5 } } } }] });
    const file = join(directory, 'application.yaml');
    await writeFile(file, stringify({ pointsman: { monitoring: { enabled: true }, shutdownSeconds: 120 } }));
    const more = manifestsOf(await chart.renderApplication(file));
    expect(podSpecOf(manifestOf(more, 'Deployment')).terminationGracePeriodSeconds).toBe(120);
    const labels = { pointsman: 'orders-pointsman' };
    expect(manifestOf(more, 'PodMonitor')).toMatchObject({ spec: { selector: { matchLabels: labels } } });
    expect(manifestOf(more, 'Deployment')).toMatchObject({ spec: { template: { metadata: { labels } } } });
  });

  test("an application's own hook stays, a Job has none, and a Deployment's sleeps", async () => {
    const preStop = { exec: { command: ['/bin/own'] } };
    const containers = [{ name: 'a', image: 'a', lifecycle: { preStop } }];
    const own = manifestsOf(await renderedWith({ mode: 'sidecar', application: { containers } }));
    expect(manifestOf(own, 'Deployment')).toMatchObject({
      spec: { template: { spec: { containers: [{ lifecycle: { preStop } }] } } },
    });
    const deployment = podSpecOf(manifestOf(await rendered('sidecar-values.yaml'), 'Deployment'));
    expect(deployment.containers[0]?.lifecycle).toEqual({ preStop: { sleep: { seconds: 5 } } });
    const job = podSpecOf(manifestOf(await rendered('job-values.yaml'), 'Job'));
    expect(job.containers[0]).not.toHaveProperty('lifecycle');
    expect([deployment, job].map((pod) => pointsmanIn(pod).lifecycle)).toEqual([undefined, undefined]);
  });

  test('the sidecar comes before every other init container', async () => {
    const { initContainers } = podSpecOf(manifestOf(await rendered('sidecar-values.yaml'), 'Deployment'));
    expect(initContainers.map(({ name }) => name)).toEqual(['pointsman', 'migrate']);
  });

  describe('refused values, with the reason', () => {
    test.each(REFUSED_VALUES)('%s', async (_, values, reason) => {
      const outcome = await renderedWith(values);
      expect(outcome).toMatchObject({ kind: 'refused', why: expect.stringMatching(reason) });
    });
  });

  test('its alerts equal those of the kustomization', async () => {
    const file = new URL('../../../deploy/kubernetes/kustomize/monitoring/prometheus-rule.yaml', import.meta.url);
    const [kustomized] = parseManifests(await readFile(file, 'utf8'));
    const rule = manifestOf(manifestsOf(await renderedWith(MONITORED)), 'PrometheusRule');
    expect(rule['spec']).toEqual(kustomized?.['spec']);
  });

  test('alerts can be removed and changed one by one', async () => {
    const standard = alertsOf(manifestsOf(await renderedWith(MONITORED)));
    const changed = alertsOf(await rendered('monitoring-values.yaml'));
    const own: Readonly<Record<string, object>> = {
      PointsmanFallback: { for: '1h', labels: { severity: 'info', team: 'data' } },
      PointsmanOpenFilesNearLimit: { expr: expect.stringMatching(/^\(process_open_fds .* > 0\.9$/) },
    };
    const expected = standard
      .filter(({ alert }) => alert !== 'PointsmanLagging')
      .map((one) => ({
        ...one,
        labels: { ...one.labels, team: 'data' },
        annotations: {
          ...one.annotations,
          runbook_url: `https://wiki.example.org/pointsman#${one.alert.toLowerCase()}`,
        },
        ...own[one.alert],
      }));
    expect(changed).toEqual(expected);
    const none = { alerts: { enabled: false }, recordingRules: { enabled: false } };
    const off = manifestsOf(await renderedWith({ monitoring: { enabled: true, ...none } }));
    expect(kindsOf(off)).not.toContain('PrometheusRule');
  });

  test('the dashboards, for the sidecar of Grafana, with the address of the runbook', async () => {
    const manifests = await rendered('monitoring-values.yaml');
    for (const [path, text] of dashboardFiles()) {
      const name = basename(path, '.json');
      const map = manifestOf(manifests, 'ConfigMap', `orders-pointsman-${name}`);
      expect(map.metadata).toMatchObject({
        labels: { grafana_dashboard: '1' },
        annotations: { grafana_folder: 'PostgreSQL' },
      });
      const page = 'https://wiki.example.org/pointsman';
      expect(map).toMatchObject({ data: { [`pointsman-${name}.json`]: text.replace('deploy/runbook.md', page) } });
    }
  });

  test('sidecars have no alert about their absence, unless it is asked for', async () => {
    expect(await alertsOfLibrary({})).not.toContain('PointsmanAbsent');
    expect(await alertsOfLibrary({})).toContain('PointsmanDown');
    expect(await alertsOfLibrary({ overrides: { PointsmanAbsent: {} } })).toContain('PointsmanAbsent');
  });

  test('every threshold can be set', async () => {
    const standard = alertsOf(manifestsOf(await renderedWith(MONITORED)));
    const withThreshold = standard.filter(({ expr }) => /[<>] [\d.]+$/.test(expr));
    expect(withThreshold.length).toBeGreaterThan(8);
    const overrides = Object.fromEntries(withThreshold.map(({ alert }) => [alert, { threshold: 4711 }]));
    const changed = alertsOf(manifestsOf(await renderedWith({ monitoring: { enabled: true, alerts: { overrides } } })));
    expect(changed.filter(({ expr }) => expr.endsWith(' 4711')).map(({ alert }) => alert)).toEqual(
      withThreshold.map(({ alert }) => alert),
    );
  });

  test('the commands in its README render', async () => {
    const readme = await readFile(join(CHART, 'README.md'), 'utf8');
    const commands = readme.match(/^helm install .*$/gm) ?? [];
    expect(commands.length).toBeGreaterThan(1);
    for (const command of commands) {
      const file = join(directory, `${files++}.yaml`);
      await writeFile(file, stringify(valuesSetBy(command)));
      await holdManifests(manifestsOf(await chart.render(file)));
    }
  });

  test('the notes: the connection, the check, the client filters, and @ro', async () => {
    const standard = await notes('default-values.yaml');
    expect(standard).toContain('psql "host=orders-pointsman user=app dbname=app"');
    expect(standard).toContain('helm -n data test orders');
    expect(standard).toContain('kubectl -n data exec deploy/orders-pointsman -- pointsman explain');
    expect(standard).toMatch(/NetworkPolicy filters.*Only pods of the namespace data[^]*ports 5432, 8008 of the/);
    expect(standard).toMatch(/TLS clients cannot use @ro[^]*connect to orders-pointsman-read/);
    const open = await notes('fixed-values.yaml');
    expect(open).not.toContain('NetworkPolicy');
    const terminated = await notes('tls-values.yaml');
    expect(terminated).toMatch(/One port is enough/);
    expect(terminated).toContain('get secret pointsman-admin');
    expect(await notes('job-values.yaml')).toContain('exec job/orders -c pointsman -- pointsman explain');
    for (const set of sets) for (const line of (await notes(set)).split('\n')) expect(line.length).toBeLessThan(121);
  });
});
