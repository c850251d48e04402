// The chart, rendered with every value set in its ci/ folder, and with values that it must refuse.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { holdManifests, loadedBy } from '../../support/deploy/hold-manifests.ts';
import { manifestOf, parseManifests, podSpecOf, pointsmanIn } from '../../support/deploy/manifests.ts';
import type { Manifest } from '../../support/deploy/manifests.ts';
import { CHART, createChartRenderer, missingHelm, RELEASE, valueSets } from '../../support/deploy/render-chart.ts';
import type { ChartRenderer, Rendered } from '../../support/deploy/render-chart.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const sets = await valueSets();
let chart: ChartRenderer;
let directory: string;
let files = 0;

async function rendered(set: string): Promise<readonly Manifest[]> {
  return manifestsOf(await chart.render(join(CHART, 'ci', set)));
}

function manifestsOf(outcome: Rendered): readonly Manifest[] {
  if (outcome.kind === 'refused') throw new Error(outcome.why);
  return outcome.manifests;
}

/** With what every release has to say. */
async function renderedWith(values: Readonly<Record<string, unknown>>): Promise<Rendered> {
  const file = join(directory, `${files++}.yaml`);
  await writeFile(file, stringify({ cluster: { seeds: ['http://postgres:8008'] }, ...values }));
  return chart.render(file);
}

/** The configuration's section, with kubernetesDiscovery on. */
async function clusterOf(values: Readonly<Record<string, unknown>>) {
  const manifests = manifestsOf(await renderedWith({ kubernetesDiscovery: true, ...values }));
  return loadedBy(manifests, podSpecOf(manifestOf(manifests, 'Deployment'))).cluster;
}

function kindsOf(manifests: readonly Manifest[]): readonly string[] {
  return manifests.map(({ kind }) => kind).toSorted();
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

  test.each(sets)('%s is what Kubernetes and Pointsman take', async (set) => {
    await holdManifests(await rendered(set));
  });

  test('a second document of one name would overwrite the first: there is none', async () => {
    for (const set of sets) {
      const names = (await rendered(set)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(names).size, set).toBe(names.length);
    }
  });

  test('what is switched off is not there, and nothing else is missing', async () => {
    const least = ['ConfigMap', 'Deployment', 'Service', 'Service', 'Service'];
    expect(kindsOf(await rendered('fixed-values.yaml'))).toEqual(least);
    expect(manifestOf(await rendered('fixed-values.yaml'), 'Deployment')).toMatchObject({ spec: { replicas: 3 } });
    const standard = [...least, 'HorizontalPodAutoscaler', 'NetworkPolicy', 'PodDisruptionBudget', 'ServiceAccount'];
    expect(kindsOf(await rendered('default-values.yaml'))).toEqual(standard.toSorted());
    expect(manifestOf(await rendered('default-values.yaml'), 'Deployment')).not.toHaveProperty('spec.replicas');
    expect(kindsOf(await rendered('monitoring-values.yaml'))).toEqual(
      [...standard, 'PrometheusRule', 'ServiceMonitor'].toSorted(),
    );
    expect(kindsOf(await rendered('discovery-values.yaml'))).toEqual([...standard, 'Role', 'RoleBinding'].toSorted());
    expect(kindsOf(await rendered('sidecar-values.yaml'))).toEqual(
      ['ConfigMap', 'Deployment', 'PodMonitor', 'PrometheusRule', 'ServiceAccount'].toSorted(),
    );
  });

  test('the rights and the token go together', async () => {
    const manifests = await rendered('discovery-values.yaml');
    expect(podSpecOf(manifestOf(manifests, 'Deployment'))).toMatchObject({ automountServiceAccountToken: true });
    expect(manifestOf(manifests, 'RoleBinding')).toMatchObject({ subjects: [{ namespace: RELEASE.namespace }] });
    const without = podSpecOf(manifestOf(await rendered('default-values.yaml'), 'Deployment'));
    expect(without).toMatchObject({ automountServiceAccountToken: false });
  });

  test('kubernetesDiscovery switches discovery on: no seeds are needed, and its settings come through', async () => {
    expect(await clusterOf({ cluster: { scope: 'batman' } })).toMatchObject({
      seeds: [],
      kubernetes: { labels: 'application=patroni,cluster-name=batman', service: undefined },
    });
    const labels = { scope_label: 'team', labels: 'application=spilo' };
    const own = { cluster: { scope: 'batman' }, config: { cluster: { kubernetes: labels } } };
    expect(await clusterOf(own)).toMatchObject({ kubernetes: { labels: 'application=spilo,team=batman' } });
    const service = { cluster: { kubernetes: { service: 'batman-repl', port: 8009 } } };
    expect(await clusterOf(service)).toMatchObject({ seeds: [], kubernetes: { service: 'batman-repl', port: 8009 } });
    const manifests = await rendered('default-values.yaml');
    expect(loadedBy(manifests, podSpecOf(manifestOf(manifests, 'Deployment'))).cluster.kubernetes).toBeUndefined();
  });

  test('files and variables of its own: the API by TLS, a setting from the environment', async () => {
    const manifests = await rendered('api-tls-values.yaml');
    const pod = podSpecOf(manifestOf(manifests, 'Deployment'));
    expect(loadedBy(manifests, pod)).toMatchObject({ zone: 'eu-1', cluster: { api: { tls: { insecure: false } } } });
    const mount = { name: 'api-ca', mountPath: '/etc/patroni-ca', readOnly: true };
    expect(pointsmanIn(pod)).toMatchObject({ volumeMounts: expect.arrayContaining([mount]) });
    expect(pod).toMatchObject({
      volumes: expect.arrayContaining([{ name: 'api-ca', secret: { secretName: 'patroni-ca' } }]),
    });
  });

  test('other settings of pointsman.yaml come through, and roll the pods', async () => {
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

  test.each([12, 13, 29, 60, 61, 119, 120, 600, 86_400])('shutdownSeconds %i is shared out by the rules', async (s) => {
    const sidecar = { mode: 'sidecar', application: { containers: [{ name: 'a', image: 'a' }] } };
    for (const mode of [{}, sidecar]) {
      const manifests = manifestsOf(await renderedWith({ ...mode, shutdownSeconds: s }));
      const pod = podSpecOf(manifestOf(manifests, 'Deployment'));
      expect(pod.terminationGracePeriodSeconds).toBe(s);
      await holdManifests(manifests);
    }
  });

  test("an application's own hook is its own, a Job has none, and a Deployment's sleeps", async () => {
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

  describe('values that are refused, with what is wrong with them', () => {
    test.each([
      ['no seeds', { cluster: { seeds: [] } }, /seeds.*(?:at least 1|minItems)/],
      ['discovery of no cluster', { cluster: { seeds: [] }, kubernetesDiscovery: true }, /cluster\.scope/],
      [
        'no seeds for a sidecar, which has no rights',
        {
          mode: 'sidecar',
          application: { containers: [{ name: 'a', image: 'a' }] },
          cluster: { seeds: [], scope: 'batman' },
          kubernetesDiscovery: true,
        },
        /seeds.*(?:at least 1|minItems)/,
      ],
      ['a seed that is no URL', { cluster: { seeds: ['postgres:8008'] } }, /seeds.*0/],
      ['a misspelt key', { shutdownSecond: 60 }, /shutdownSecond/],
      ['too little time', { shutdownSeconds: 5 }, /shutdownSeconds.*12/],
      ['time with a unit', { shutdownSeconds: '60s' }, /shutdownSeconds/],
      ['what the chart derives', { config: { shutdown: { drain_timeout: '1h' } } }, /shutdown/],
      ['a port below 1024', { ports: { write: 80, read: 5433, admin: 8432 } }, /ports.write.*1024/],
      ['a sidecar beside nothing', { mode: 'sidecar' }, /containers.*(?:at least 1|minItems)/],
      ['an unknown mode', { mode: 'daemonset' }, /mode/],
    ])('%s', async (_, values, said) => {
      const outcome = await renderedWith(values);
      expect(outcome).toMatchObject({ kind: 'refused', why: expect.stringMatching(said) });
    });
  });

  test('its alerts are those of the kustomization', async () => {
    const file = new URL('../../../deploy/kubernetes/kustomize/monitoring/prometheus-rule.yaml', import.meta.url);
    const [kustomized] = parseManifests(await readFile(file, 'utf8'));
    expect(manifestOf(await rendered('monitoring-values.yaml'), 'PrometheusRule')['spec']).toEqual(
      kustomized?.['spec'],
    );
  });
});
