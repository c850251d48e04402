// The image of the Dockerfile, in a real Docker engine: alone, and in front of a real cluster in containers. One file,
// because the build of the images takes longer than all the tests.
import { afterAll, beforeAll } from 'vitest';
import { whyNoContainers } from '../support/containers/engine.ts';
import { startContainerLab } from '../support/containers/lab.ts';
import type { ContainerLab } from '../support/containers/lab.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';
import { describeImageInCluster } from './image/in-cluster.ts';
import { describeImageItself } from './image/itself.ts';

const MAKING_TIMEOUT_MS = 900_000;
/** An engine on a busy machine needs minutes to remove containers and images. */
const REMOVING_TIMEOUT_MS = 300_000;

describeUnless(await whyNoContainers(), 'the image', () => {
  let started: ContainerLab | undefined;
  beforeAll(async () => {
    started = await startContainerLab({
      VERSION: '1.2.3',
      REVISION: 'c0ffee',
      SOURCE: 'https://example.org/pointsman',
    });
  }, MAKING_TIMEOUT_MS);
  afterAll(() => started?.destroy(), REMOVING_TIMEOUT_MS);
  const lab = (): ContainerLab => {
    if (started === undefined) throw new Error('used before beforeAll');
    return started;
  };
  describeImageItself(lab);
  describeImageInCluster(lab);
});
