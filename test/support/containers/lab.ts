// Images, containers and one network of a test run, and their end. Everything carries a label with this process's
// number, so that the next run finds the leftovers of a killed one. The base images are never removed.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GenericContainer } from 'testcontainers';
import { startContainer } from './container.ts';
import type { ContainerWanted, RunningContainer } from './container.ts';
import { engine, makeBaseImages } from './engine.ts';
import type { Engine } from './engine.ts';

const LABEL = 'pointsman.test';
/** The Dockerfile gives it to stages whose images nobody names. */
const STAGE = 'pointsman.stage';
const TOP = new URL('../../..', import.meta.url).pathname;
const CLUSTER = new URL('cluster', import.meta.url).pathname;

export interface ContainerLab {
  readonly engine: Engine;
  /** Pointsman's, as the repository's Dockerfile makes it. */
  readonly image: string;
  readonly clusterImage: string;
  readonly start: (wanted: ContainerWanted) => Promise<RunningContainer>;
  /** A file of this machine that every user may read, with this text; its path. */
  readonly file: (name: string, text: string) => Promise<string>;
  readonly destroy: () => Promise<void>;
}

/** Builds both images: minutes on a machine that has never done it. */
export async function startContainerLab(buildArguments: Record<string, string>): Promise<ContainerLab> {
  await makeBaseImages();
  const docker = await engine();
  await sweep(docker);
  const name = `pointsman-test-${process.pid}`;
  const [image, clusterImage] = [`${name}:image`, `${name}:cluster`];
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  await chmod(directory, 0o755);
  const file = async (named: string, text: string): Promise<string> => {
    const path = join(directory, named);
    await writeFile(path, text, { mode: 0o644 });
    return path;
  };
  const destroy = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true });
    await removeLabelled(docker, String(process.pid));
    for (const tag of [image, clusterImage])
      await docker
        .getImage(tag)
        .remove()
        .catch(() => undefined);
    await docker.pruneImages({ filters: { dangling: ['true'], label: [STAGE] } });
  };
  try {
    await build(image, TOP, buildArguments);
    await build(clusterImage, CLUSTER, {});
    const labels = { [LABEL]: String(process.pid) };
    await docker.createNetwork({ Name: name, Labels: labels });
    const start = (wanted: ContainerWanted): Promise<RunningContainer> =>
      startContainer(wanted, { engine: docker, network: name, labels });
    return { engine: docker, image, clusterImage, start, file, destroy };
  } catch (error) {
    await destroy();
    throw error;
  }
}

/** The library hides the builder's output, which has the reason: the builder, run again, stops at the same step. */
async function build(tag: string, context: string, buildArguments: Record<string, string>): Promise<void> {
  try {
    await GenericContainer.fromDockerfile(context).withBuildArgs(buildArguments).build(tag, { deleteOnExit: false });
  } catch (error) {
    const why = await promisify(execFile)('docker', ['build', context]).catch((failed: unknown) => failed);
    throw new Error(`${context}Dockerfile does not build: ${String(why).slice(-4000)}`, { cause: error });
  }
}

/** Leftovers of runs that were killed. */
async function sweep(docker: Engine): Promise<void> {
  const filters = { label: [LABEL] };
  const found = [...(await docker.listContainers({ all: true, filters })), ...(await docker.listNetworks({ filters }))];
  const owners = new Set(found.map(({ Labels: labels }) => labels?.[LABEL] ?? ''));
  for (const owner of owners) if (!isAlive(Number(owner))) await removeLabelled(docker, owner);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function removeLabelled(docker: Engine, owner: string): Promise<void> {
  const filters = { label: [`${LABEL}=${owner}`] };
  for (const { Id: id } of await docker.listContainers({ all: true, filters })) {
    await docker.getContainer(id).remove({ force: true, v: true });
  }
  for (const { Id: id } of await docker.listNetworks({ filters })) await docker.getNetwork(id).remove();
}
