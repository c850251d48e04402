// One container as a test sees it. Its ports are free ones, published on loopback alone. It waits for nothing by
// itself.
import type { Readable } from 'node:stream';
import { GenericContainer, StartupCheckStrategy } from 'testcontainers';
import type { StartedTestContainer, StartupStatus } from 'testcontainers';
import type { Engine } from './engine.ts';

export interface ContainerWanted {
  readonly image: string;
  /** By which the others of its network reach it. */
  readonly name: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly number[];
  /** Files of this machine by their path in the container: mounted there, read-only. */
  readonly files?: Readonly<Record<string, string>>;
  /** Something else than the command is process 1. */
  readonly init?: boolean;
  /** As the documentation tells to run Pointsman: root file system read-only, no capability, none to be gained. */
  readonly confined?: boolean;
}

type Details = Awaited<ReturnType<ReturnType<Engine['getContainer']>['inspect']>>;

export interface RunningContainer {
  readonly name: string;
  /** On 127.0.0.1, for a port of the container. */
  readonly port: (inside: number) => number;
  readonly exec: (...command: readonly string[]) => Promise<{ readonly exitCode: number; readonly output: string }>;
  readonly inspect: () => Promise<Details>;
  readonly logs: () => Promise<{ readonly stdout: string; readonly stderr: string }>;
  readonly signal: (name: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  /** Resolves with the exit code when it has ended. */
  readonly exited: () => Promise<number>;
  /** The same container once more; its ports are others then. */
  readonly startAgain: () => Promise<void>;
}

class Started extends StartupCheckStrategy {
  override checkStartupState(): Promise<StartupStatus> {
    return Promise.resolve('SUCCESS');
  }
}

/** Options that the builder does not offer, in the engine's own words. */
class Confinable extends GenericContainer {
  constructor({ image, name, ports = [], init = false, confined = false }: ContainerWanted, network: string) {
    super(image);
    this.withNetworkMode(network).withWaitStrategy(new Started());
    this.createOpts.NetworkingConfig = { EndpointsConfig: { [network]: { Aliases: [name] } } };
    this.createOpts.ExposedPorts = Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}]));
    const binding = [{ HostIp: '127.0.0.1', HostPort: '' }];
    this.hostConfig.PortBindings = Object.fromEntries(ports.map((port) => [`${port}/tcp`, binding]));
    this.hostConfig.Init = init;
    if (!confined) return;
    this.hostConfig.ReadonlyRootfs = true;
    this.withDroppedCapabilities('ALL').withSecurityOpt('no-new-privileges');
  }
}

export async function startContainer(
  wanted: ContainerWanted,
  at: { readonly engine: Engine; readonly network: string; readonly labels: Record<string, string> },
): Promise<RunningContainer> {
  const { command = [], environment = {}, files = {} } = wanted;
  const container = new Confinable(wanted, at.network).withLabels(at.labels).withEnvironment({ ...environment });
  if (command.length > 0) container.withCommand([...command]);
  const mounts = Object.entries(files).map(([target, source]) => ({ source, target, mode: 'ro' as const }));
  if (mounts.length > 0) container.withBindMounts(mounts);
  return await running(wanted.name, await container.start(), at.engine);
}

async function running(name: string, started: StartedTestContainer, engine: Engine): Promise<RunningContainer> {
  const container = engine.getContainer(started.getId());
  let details = await container.inspect();
  return {
    name,
    port: (inside) => {
      const port = details.NetworkSettings.Ports[`${inside}/tcp`]?.[0]?.HostPort;
      if (port === undefined) throw new Error(`${name} has no port ${inside} published`);
      return Number(port);
    },
    exec: (...command) => started.exec([...command]),
    inspect: () => container.inspect(),
    logs: async () => ({
      stdout: unframed(await container.logs({ stdout: true })),
      stderr: unframed(await container.logs({ stderr: true })),
    }),
    signal: async (signal) => {
      await container.kill({ signal });
    },
    exited: async () => {
      const { StatusCode: code }: { StatusCode: number } = await container.wait();
      return code;
    },
    startAgain: async () => {
      await container.start();
      details = await container.inspect();
    },
  };
}

const HEADER = 8;

/** Each piece of a container's output follows a header with its length (Docker Engine API, attach: stream format). */
function unframed(framed: Buffer | Readable): string {
  if (!Buffer.isBuffer(framed)) throw new Error('a log that is followed has no end');
  const pieces: Buffer[] = [];
  for (let at = 0; at + HEADER <= framed.length;) {
    const end = at + HEADER + framed.readUInt32BE(at + 4);
    pieces.push(framed.subarray(at + HEADER, end));
    at = end;
  }
  return Buffer.concat(pieces).toString();
}
