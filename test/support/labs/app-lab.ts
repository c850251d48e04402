// The whole program in this process: an app before a primary pg-1 and a replica pg-2, whose APIs and servers are fakes.
// Its configuration is an object with the contents of the file, read through the real loader.
import { stringify } from 'yaml';
import { createApp } from '../../../src/app/app.ts';
import { systemClock } from '../waiting/system-clock.ts';
import type { ComposedApp } from '../../../src/app/app.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { formatProblems } from '../../../src/config/fault.ts';
import type { LoadResult } from '../../../src/config/load.ts';
import type { Address } from '../../../src/model/member.ts';
import type { ReloadResult } from '../../../src/app/reload.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { startFakeBackend } from '../fakes/fake-backend.ts';
import type { NamedServer } from '../fakes/named-server.ts';
import type { FakeBackend } from '../fakes/fake-backend.ts';
import { FakeMember } from '../fakes/fake-member.ts';
import type { FakeMemberKnobs } from '../fakes/fake-member.ts';
import { findFreePorts } from '../sockets/free-ports.ts';
import { until } from '../waiting/until.ts';
import { withoutScope } from '../values/samples.ts';
import { expectNoCanary } from '../values/canaries.ts';

export type ConfigFile = Readonly<Record<string, unknown>>;

export interface FakeServer {
  readonly api: FakeMember;
  readonly postgres: FakeBackend;
}

export class FakeCluster {
  readonly primary: FakeServer;
  readonly replica: FakeServer;

  private constructor(primary: FakeServer, replica: FakeServer) {
    this.primary = primary;
    this.replica = replica;
    const members = [primary, replica].map(({ api, postgres }) => api.entry({ ...postgres.address }));
    for (const { api } of [primary, replica]) api.set({ cluster: { members, scope: 'demo' } });
  }

  static async start(): Promise<FakeCluster> {
    const primary = await startFakeServer('pg-1', { role: 'primary' });
    return new FakeCluster(primary, await startFakeServer('pg-2'));
  }

  /** As an operator names them. */
  section(...servers: readonly FakeServer[]): ConfigFile {
    return sectionOf(servers.length === 0 ? [this.primary, this.replica] : servers);
  }

  stop(): Promise<void> {
    return stopServers([this.primary, this.replica]);
  }
}

/** A replica unless told otherwise. */
export async function startFakeServer(name: string, knobs: Partial<FakeMemberKnobs> = {}): Promise<FakeServer> {
  return { api: await FakeMember.start(name, knobs), postgres: await startFakeBackend('echo') };
}

export async function stopServers(servers: readonly FakeServer[]): Promise<void> {
  for (const { api, postgres } of servers) {
    await api.stop();
    await postgres.stop();
  }
}

/** The section `cluster` of these members, known by name: without discovery. */
function sectionOf(servers: readonly NamedServer[]): ConfigFile {
  const members = servers.map(({ api, postgres }) => ({
    name: api.name,
    api: api.url,
    postgres: `127.0.0.1:${postgres.address.port}`,
  }));
  return { discovery: 'static', members };
}

/** Before these servers, on free ports; `changes` replace whole sections. */
export function fileFor(servers: readonly NamedServer[], changes: ConfigFile = {}): ConfigFile {
  return {
    cluster: sectionOf(servers),
    listeners: ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    admin: { address: '127.0.0.1:0' },
    ...changes,
  };
}

type Line = Readonly<Record<string, unknown>>;

export class AppLab {
  readonly app: ComposedApp;
  readonly lines: Line[];
  /** The configuration that a reload over HTTP reads. */
  file: ConfigFile;

  private constructor(app: (lab: AppLab) => ComposedApp, lines: Line[], file: ConfigFile) {
    this.app = app(this);
    this.lines = lines;
    this.file = file;
  }

  /** Resolves when the app is ready. */
  static async start(file: ConfigFile): Promise<AppLab> {
    const loaded = load(file);
    if (loaded.kind === 'invalid') throw new Error(formatProblems(loaded.problems));
    const lines: Line[] = [];
    const write = (line: string): void => {
      expectNoCanary('the log', line);
      lines.push(JSON.parse(line));
    };
    const { log, access } = createLog({ level: 'info', format: 'json', isTerminal: false, destination: { write } });
    const { config } = loaded;
    const app = (of: AppLab): ComposedApp =>
      createApp({
        config,
        log,
        access,
        clock: systemClock,
        version: '0',
        nodeVersion: 'v0',
        load: () => load(of.file),
      });
    const lab = new AppLab(app, lines, file);
    const started = await lab.app.start();
    if (started.kind === 'failed') throw new Error(started.why);
    await until('readiness', () => lab.said('route_changed').some(({ pool }) => pool === 'read'));
    return lab;
  }

  async reload(file: ConfigFile): Promise<ReloadResult> {
    return await this.app.reload(load(file));
  }

  said(event: string): readonly Line[] {
    return this.lines.filter((line) => line['event'] === event);
  }

  /** Where clients of a pool connect. */
  address(pool: string): Address {
    const [host = '', port] = String(this.said('listening').find((line) => line['pool'] === pool)?.['address']).split(
      ':',
    );
    return { host, port: Number(port) };
  }

  /** Base URL of its admin port. */
  get admin(): string {
    return `http://${String(this.said('listening').find(({ pool }) => pool === 'admin')?.['address'])}`;
  }

  /** GET, the body. */
  async ask(path: string): Promise<string> {
    return (await fetch(`${this.admin}${path}`)).text();
  }

  /** The sample's value; undefined when there is none. */
  async metric(sample: string): Promise<number | undefined> {
    const text = await this.ask('/metrics');
    const line = withoutScope(text)
      .split('\n')
      .find((candidate) => candidate.startsWith(`${sample} `));
    return line === undefined ? undefined : Number(line.slice(sample.length + 1));
  }

  /** Reasons of the sessions that ended, oldest first; info and above, so ordinary ends are not among them. */
  reasons(): readonly unknown[] {
    return this.said('session_closed').map(({ reason }) => reason);
  }
}

function load(file: ConfigFile): LoadResult {
  return loadConfig({ file: 'lab.yaml', env: {}, readFile: () => stringify(file) });
}

/** Loopback addresses on which nobody listens. */
export async function freeAddresses(count: number): Promise<readonly Address[]> {
  return (await findFreePorts(count, ['127.0.0.1'])).map((port) => ({ host: '127.0.0.1', port }));
}
