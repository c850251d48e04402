// The chart and the kustomizations render the same resources, except for names, labels, and the place of the shutdown
// times.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadedBy, workloadsOf } from '../../support/deploy/hold-manifests.ts';
import { manifestOf, podSpecOf, pointsmanIn } from '../../support/deploy/manifests.ts';
import type { Manifest } from '../../support/deploy/manifests.ts';
import { CHART, createChartRenderer, missingHelm } from '../../support/deploy/render-chart.ts';
import type { ChartRenderer } from '../../support/deploy/render-chart.ts';
import { missingKustomize, renderKustomization } from '../../support/deploy/render-kustomize.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const NAMING = new Set(['labels', 'matchLabels', 'annotations', 'metadata', 'selector']);
/** Fields of the pod that have their own tests: configuration, security settings, shutdown times. */
const HELD_APART = new Set(['env', 'volumes', 'securityContext', 'imagePullPolicy']);

/** A resource without its names. */
function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => essence(item));
  if (typeof value === 'string') return value.replace(/^orders-pointsman/, 'pointsman');
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !NAMING.has(key) && !HELD_APART.has(key));
  return Object.fromEntries(kept.map(([key, child]) => [key, essence(child)]));
}

/** Every resource except the ConfigMap, whose name ends with a hash, and the test pod, which only helm runs. */
function byName(manifests: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const kept = manifests.filter(({ kind }) => kind !== 'ConfigMap' && kind !== 'Pod');
  return Object.fromEntries(kept.map((one) => [`${one.kind} ${String(essence(one.metadata.name))}`, essence(one)]));
}

/** Without the places of the values: the two files have other lines. `peers` is the name of a Service. */
function configOf(...loaded: Parameters<typeof loadedBy>) {
  const { origins: _, cancelPeers, file, ...config } = loadedBy(...loaded);
  return { ...config, cancelPeers: essence(cancelPeers), file: { ...file, peers: essence(file.peers) } };
}

describeUnless(missingHelm ?? missingKustomize, 'with helm or its stand-in, and kubectl', () => {
  let chart: ChartRenderer;
  let directory: string;

  beforeAll(async () => {
    chart = await createChartRenderer();
    directory = await mkdtemp(join(tmpdir(), 'pointsman-autoscaling-'));
  }, 240_000);

  afterAll(async () => {
    await chart.remove();
    await rm(directory, { recursive: true });
  });

  async function rendered(set: string): Promise<readonly Manifest[]> {
    const outcome = await chart.render(set.startsWith('/') ? set : join(CHART, 'ci', set));
    if (outcome.kind === 'refused') throw new Error(outcome.why);
    return outcome.manifests;
  }

  test('standalone: every resource, and the configuration', async () => {
    const ours = await rendered('default-values.yaml');
    const theirs = await renderKustomization('standalone');
    expect(byName(ours)).toEqual(byName(theirs));
    const [one, other] = [ours, theirs].map((all) => configOf(all, podSpecOf(manifestOf(all, 'Deployment'))));
    expect(one).toEqual(other);
  });

  test('autoscaling: the autoscaler, and no number of pods', async () => {
    const file = join(directory, 'autoscaling.yaml');
    await writeFile(file, 'cluster: { seeds: [http://postgres:8008] }\nautoscaling: { enabled: true }\n');
    const [ours, theirs] = [byName(await rendered(file)), byName(await renderKustomization('examples/autoscaling'))];
    expect(ours).toEqual(theirs);
  });

  test('sidecar: the container, and the configuration', async () => {
    const ours = await rendered('sidecar-values.yaml');
    const theirs = await renderKustomization('examples/deployment');
    const pods = [ours, theirs].map((all) => ({ all, pod: podSpecOf(manifestOf(workloadsOf(all), 'Deployment')) }));
    const [container, otherContainer] = pods.map(({ pod }) => essence(pointsmanIn(pod)));
    expect(container).toEqual(otherContainer);
    const [one, other] = pods.map(({ all, pod }) => configOf(all, pod));
    expect(one).toEqual(other);
    const [times, otherTimes] = pods.map(({ pod: { terminationGracePeriodSeconds, containers } }) => [
      terminationGracePeriodSeconds,
      containers[0]?.lifecycle,
    ]);
    expect(times).toEqual(otherTimes);
    expect(byName(ours)['PodMonitor pointsman']).toEqual(byName(theirs)['PodMonitor pointsman-sidecar']);
  });
});
