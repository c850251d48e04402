// The kustomizations, rendered as `kubectl apply -k` renders them.
import { expect, test } from 'vitest';
import { holdManifests, loadedBy } from '../../support/deploy/hold-manifests.ts';
import { manifestOf, podSpecOf } from '../../support/deploy/manifests.ts';
import type { Manifest, PodSpec } from '../../support/deploy/manifests.ts';
import { missingKustomize, renderKustomization } from '../../support/deploy/render-kustomize.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const RENDERED = ['standalone', 'examples/standalone', 'examples/autoscaling', 'examples/deployment', 'examples/job'];

function seedsIn(rendered: readonly Manifest[]): unknown {
  return loadedBy(rendered, podSpecOf(manifestOf(rendered, 'Deployment'))).cluster.seeds;
}

async function podOf(directory: string): Promise<PodSpec> {
  return podSpecOf(manifestOf(await renderKustomization(directory), 'Deployment'));
}

describeUnless(missingKustomize, 'with kubectl', () => {
  test.each(RENDERED)('%s: Kubernetes and Pointsman accept it', async (directory) => {
    await holdManifests(await renderKustomization(directory));
  });

  test('the autoscaler sets the number of pods; without it there are two', async () => {
    const [plain, scaled] = await Promise.all(['standalone', 'examples/autoscaling'].map(renderKustomization));
    expect(manifestOf(plain ?? [], 'Deployment')).toMatchObject({ spec: { replicas: 2 } });
    expect(manifestOf(scaled ?? [], 'Deployment')).not.toHaveProperty('spec.replicas');
    expect(manifestOf(scaled ?? [], 'HorizontalPodAutoscaler')).toMatchObject({
      spec: { scaleTargetRef: { name: 'pointsman' } },
    });
  });

  test('another configuration replaces the standalone one, under another name', async () => {
    const plain = await renderKustomization('standalone');
    const ours = await renderKustomization('examples/standalone');
    expect(seedsIn(plain)).not.toEqual(seedsIn(ours));
    const [name, ourName] = [plain, ours].map((rendered) => manifestOf(rendered, 'ConfigMap').metadata.name);
    expect(name).not.toBe(ourName);
  });

  test('the namespace applies to everything, the subject of the RoleBinding too', async () => {
    const manifests = await renderKustomization('examples/standalone');
    for (const { metadata } of manifests) expect(metadata).toMatchObject({ namespace: 'data' });
    const subjects = [{ name: 'pointsman', namespace: 'data' }];
    expect(manifestOf(manifests, 'RoleBinding')).toMatchObject({ subjects });
  });

  test('only discovery through the Kubernetes API has a token', async () => {
    expect(await podOf('standalone')).toMatchObject({ automountServiceAccountToken: false });
    expect(await podOf('examples/standalone')).toMatchObject({ automountServiceAccountToken: true });
    const example = await renderKustomization('examples/standalone');
    const { seeds, kubernetes } = loadedBy(example, podSpecOf(manifestOf(example, 'Deployment'))).cluster;
    expect({ seeds, kubernetes }).toMatchObject({
      seeds: [],
      kubernetes: { labels: expect.stringContaining('orders-db') },
    });
  });
});
