// The life of a pod with Pointsman as its sidecar: real processes with the timings of the rendered manifests, an
// application that expects its database, and a stand-in for the kubelet (support/deploy/pod-player.ts).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { takeFreePort } from '../../src/sandbox/postgres/free-ports.ts';
import { missingForSandbox } from '../support/runner/sandbox-availability.ts';
import { SandboxCluster } from '../support/clusters/sandbox-cluster.ts';
import { configurationOf, manifestOf, podSpecOf } from '../support/deploy/manifests.ts';
import type { Container, Manifest, PodSpec, Probe } from '../support/deploy/manifests.ts';
import { PlayedPod } from '../support/deploy/pod-player.ts';
import type { Played } from '../support/deploy/pod-player.ts';
import { CHART, createChartRenderer, missingHelm } from '../support/deploy/render-chart.ts';
import { missingKustomize, renderKustomization } from '../support/deploy/render-kustomize.ts';
import { waitUntil } from '../support/waiting/wait.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';

const APPLICATION = new URL('../support/deploy/application-main.ts', import.meta.url).pathname;
const LONG_MS = 60_000;

function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<unknown> {
  return waitUntil(what, async () => await isSo(), { timeoutMs: LONG_MS });
}

describeUnless(missingForSandbox ?? missingKustomize ?? missingHelm, "a sidecar pod's life, on the sandbox", () => {
  let cluster: SandboxCluster;
  let gate: Server | undefined;
  let gatePort: number;
  const open = new Set<Socket>();
  const pods: PlayedPod[] = [];
  const atTheEnd: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    cluster = await SandboxCluster.start();
    gatePort = await takeFreePort();
  });

  afterEach(async () => {
    for (const pod of pods.splice(0)) await pod.remove();
    for (const end of atTheEnd.splice(0)) await end();
    for (const socket of open) socket.destroy();
    const closing = gate;
    gate = undefined;
    if (closing !== undefined) await new Promise((resolve) => void closing.close(resolve));
  });

  afterAll(() => cluster.destroy());

  /** Opens the seed of the pods; its port refuses before. */
  async function openGate(): Promise<void> {
    const [member] = cluster.members();
    gate = createServer((socket) => {
      const { hostname, port } = new URL(member?.api ?? 'http://none');
      const onward = connect({ host: hostname, port: Number(port) });
      for (const end of [socket, onward]) {
        open.add(end);
        end.on('error', () => end.destroy());
        end.on('close', () => open.delete(end));
      }
      socket.pipe(onward).pipe(socket);
    });
    const server = gate;
    server.listen({ host: '127.0.0.1', port: gatePort });
    await once(server, 'listening');
  }

  /** The pod of a manifest; its ports are free ones, because it has no network of its own. */
  async function podOf(manifests: readonly Manifest[], workload: Manifest, application: string): Promise<PlayedPod> {
    const spec = podSpecOf(workload);
    const ports = { write: await takeFreePort(), read: await takeFreePort(), admin: await takeFreePort() };
    const launch = (container: Container): Promise<Played> =>
      container.name === 'pointsman'
        ? launchPointsman(manifests, spec, container, ports)
        : Promise.resolve(launchApplication(container, ports.write, application));
    const pod = new PlayedPod(spec, launch);
    pods.push(pod);
    return pod;
  }

  interface Ports {
    readonly write: number;
    readonly read: number;
    readonly admin: number;
  }

  async function launchPointsman(
    manifests: readonly Manifest[],
    spec: PodSpec,
    container: Container,
    ports: Ports,
  ): Promise<Played> {
    expect(container.args).toEqual(['run', '-c', '/etc/pointsman/pointsman.yaml']);
    const { file, env } = configurationOf(manifests, spec);
    const members = cluster.members();
    const allowed = members.flatMap(({ api, port }) => [new URL(api).port, port]);
    const started = await startPointsman(file, {
      ...env,
      POINTSMAN_CLUSTER_SEEDS: `http://127.0.0.1:${gatePort}`,
      POINTSMAN_CLUSTER_ALLOW_PORTS: allowed.join(','),
      POINTSMAN_LISTENERS_0_ADDRESS: `127.0.0.1:${ports.write}`,
      POINTSMAN_LISTENERS_1_ADDRESS: `127.0.0.1:${ports.read}`,
      POINTSMAN_ADMIN_ADDRESS: `127.0.0.1:${ports.admin}`,
    });
    atTheEnd.push(() => started.stop());
    return {
      signal: (name) => started.signal(name),
      exited: () => started.exited(),
      succeeds: ({ httpGet, timeoutSeconds }: Probe) =>
        fetch(`http://127.0.0.1:${ports.admin}${httpGet.path}`, {
          signal: AbortSignal.timeout(timeoutSeconds * 1000),
        }).then(
          ({ ok }) => ok,
          () => false,
        ),
    };
  }

  function launchApplication({ env }: Container, port: number, kind: string): Played {
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value?.replace(':5432', `:${port}`)]));
    const own = { ...variables, PGPASSWORD: cluster.app.password };
    const child = spawn(process.execPath, [APPLICATION, kind], { env: own, stdio: ['pipe', 'ignore', 'inherit'] });
    const exited = once(child, 'exit').then(([code, signal]): number | string => code ?? signal);
    return {
      signal: (name) => void child.kill(name),
      exited: () => exited,
      succeeds: () => Promise.resolve(true),
    };
  }

  async function wrote(what: string): Promise<number> {
    const { name } = await cluster.leader();
    const [row] = await cluster.sql(name, `select count(*)::int as n from direct_writes where member = '${what}'`, {
      as: cluster.app,
    });
    return Number(row?.['n']);
  }

  it('starts Pointsman first, serves, and stops the application before Pointsman', async () => {
    const manifests = await renderKustomization('examples/deployment');
    const pod = await podOf(manifests, manifestOf(manifests, 'Deployment'), 'serve');
    const before = { first: await wrote('serve: first'), last: await wrote('serve: last') };
    const starting = pod.start();
    // No member answers Pointsman yet, so the application waits.
    await eventually('startup probes that failed', () => pod.told('startup-failed').length >= 3);
    expect(pod.told('started')).toEqual(['started pointsman']);
    await openGate();
    await starting;
    await eventually('ready', () => pod.isReady());
    expect(pod.told('started', 'started-up')).toEqual(['started pointsman', 'started-up pointsman', 'started shop']);
    // Readiness comes while the application starts, or later.
    expect(pod.told('started-up', 'ready')).toEqual(['started-up pointsman', 'ready pointsman']);
    await eventually('a row of the application', async () => (await wrote('serve: first')) > before.first);

    await pod.delete();
    expect(pod.told('pre-stop', 'told-to-end', 'killed', 'exited')).toEqual([
      'pre-stop shop',
      'told-to-end shop',
      'exited shop 0',
      'told-to-end pointsman',
      'exited pointsman 0',
    ]);
    // The application wrote its last row on a new connection after its SIGTERM.
    expect(await wrote('serve: last')).toBe(before.last + 1);
  });

  it('a dead sidecar is restarted, and the application goes on', async () => {
    await openGate();
    const manifests = await renderKustomization('examples/deployment');
    const pod = await podOf(manifests, manifestOf(manifests, 'Deployment'), 'serve');
    const before = { first: await wrote('serve: first'), last: await wrote('serve: last') };
    await pod.start();
    await eventually('a row of the application', async () => (await wrote('serve: first')) > before.first);
    await eventually('ready', () => pod.isReady());
    pod.process('pointsman').signal('SIGKILL');
    await eventually('unready', () => !pod.isReady());
    await eventually('ready again', () => pod.isReady());
    expect(pod.told('exited')).toEqual(['exited pointsman SIGKILL']);
    await pod.delete();
    expect(pod.told('exited').slice(1)).toEqual(['exited shop 0', 'exited pointsman 0']);
    expect(await wrote('serve: last')).toBe(before.last + 1);
  });

  it.each([
    ['job', 0, 'Succeeded'],
    ['failing-job', 1, 'Failed'],
  ])('%s: the pod ends with its exit code %i, and Pointsman does not keep the pod alive', async (kind, code, phase) => {
    await openGate();
    const manifests = await renderKustomization('examples/job');
    const pod = await podOf(manifests, manifestOf(manifests, 'Job'), kind);
    const before = await wrote(`${kind}: first`);
    await pod.start();
    expect(await pod.ended()).toBe(phase);
    expect(pod.told('told-to-end', 'killed', 'exited')).toEqual([
      `exited nightly ${code}`,
      'told-to-end pointsman',
      'exited pointsman 0',
    ]);
    expect(await wrote(`${kind}: first`)).toBe(before + 1);
  });

  it('an application that does not end is killed after the grace period; Pointsman ends by itself', async () => {
    await openGate();
    const chart = await createChartRenderer();
    atTheEnd.push(() => chart.remove());
    const rendered = await chart.render(join(CHART, 'ci/job-values.yaml'));
    if (rendered.kind === 'refused') throw new Error(rendered.why);
    const pod = await podOf(rendered.manifests, manifestOf(rendered.manifests, 'Job'), 'stubborn');
    await pod.start();
    await eventually('its session', async () => (await wrote('stubborn: first')) === 1);
    await pod.delete();
    // Pointsman got its SIGTERM at the end of the grace period, before the application was gone.
    expect(pod.told('told-to-end')).toEqual(['told-to-end nightly', 'told-to-end pointsman']);
    expect(pod.told('killed')).toEqual(['killed nightly']);
    expect(pod.told('exited')).toEqual(expect.arrayContaining(['exited nightly SIGKILL', 'exited pointsman 0']));
  });
});
