// The Docker engine of this machine, and what the tests in containers need beside it. Never installs or starts one.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { getContainerRuntimeClient } from 'testcontainers';
import { findExecutable } from '../patroni/availability.ts';

// Its reaper is an image that a machine without a registry does not have; ContainerLab clears up.
process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';

const DEBOOTSTRAP = '/usr/sbin/debootstrap';
const SCRIPT = new URL('../../make-base-images.sh', import.meta.url).pathname;
const run = promisify(execFile);

export type Engine = Awaited<ReturnType<typeof getContainerRuntimeClient>>['container']['dockerode'];

export async function engine(): Promise<Engine> {
  const client = await getContainerRuntimeClient();
  return client.container.dockerode;
}

/** For people; undefined when nothing is missing. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (findExecutable('docker') === undefined) return 'Docker: apt-get install docker.io';
  try {
    await engine();
  } catch {
    return 'a Docker engine that runs and may be asked by this user: systemctl start docker, or dockerd as root';
  }
  const missing = await missingBaseImages();
  if (missing.length === 0) return undefined;
  if (process.getuid?.() === 0 && existsSync(DEBOOTSTRAP)) return undefined;
  const how = 'docker pull them, or apt-get install debootstrap and run test/make-base-images.sh as root';
  return `the base images ${missing.join(', ')}: ${how}`;
}

async function missingBaseImages(): Promise<readonly string[]> {
  const { stdout } = await run('bash', [SCRIPT, '--missing']);
  return stdout.split('\n').filter((line) => line !== '');
}

/** Takes a minute or two where there are none, nothing where they are there. */
export async function makeBaseImages(): Promise<void> {
  await run('bash', [SCRIPT]);
}
