// The incidents of real failovers: their time without a write route against a probe of its own, planned or not, and
// three failovers in a row as one incident.
import { afterEach, expect, it } from 'vitest';
import { incidentDocument } from '../../src/incidents/schema.ts';
import type { FindingOf, Finding, IncidentDocument } from '../../src/incidents/schema.ts';
import { attemptOnce, CREATE_WRITES, WRITE_ROW } from '../support/applications/connect-load.ts';
import type { Attempt } from '../support/applications/connect-load.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { median } from '../support/values/median.ts';

describeOnEveryCluster('incidents', (on) => {
  const lab = on.clusterWithPointsman({ sql: CREATE_WRITES });
  const started: PointsmanProcess[] = [];
  const probes: WriteProbe[] = [];

  afterEach(async () => {
    for (const probe of probes.splice(0)) await probe.stop();
    for (const pointsman of started.splice(0)) await pointsman.stop();
  });

  /** Each test has its own: an incident of the test before would open again. */
  async function start(): Promise<PointsmanProcess> {
    const pointsman = await startPointsman(configFor(lab.cluster));
    started.push(pointsman);
    await pointsman.waitUntilReady();
    return pointsman;
  }

  async function probe(pointsman: PointsmanProcess): Promise<WriteProbe> {
    const target = { host: '127.0.0.1', port: await pointsman.port('write'), ...lab.cluster.app };
    const one = new WriteProbe(() => attemptOnce({ ...target, sql: WRITE_ROW }));
    probes.push(one);
    return one;
  }

  it('three deaths of the primary are one incident, and its times agree with a probe of its own', async () => {
    const pointsman = await start();
    const writes = await probe(pointsman);
    const gaps: Gap[] = [];
    for (let round = 1; round <= 3; round += 1) {
      await lab.cluster.waitUntilHealthy();
      const old = await lab.cluster.leader();
      await pointsman.waitFor(`writes on ${old.name}`, () => writes.hasWrittenOn(serverName(old)));
      await lab.cluster.kill(old.name);
      gaps.push(await pointsman.waitFor('writes after the death', () => writes.gapAfter(serverName(old)), 60_000));
      await lab.cluster.start(old.name);
    }
    const document = await latest(pointsman);
    const routes = of(document, 'no_route').filter(({ write }) => write);
    const services = of(document, 'no_service');
    const figures = gaps.map((gap, index) => ({
      probe: Math.round(gap.service),
      probeOfWrites: Math.round(gap.writes),
      noRoute: Math.round((routes[index]?.seconds ?? 0) * 1000),
      noService: Math.round((services[index]?.seconds ?? 0) * 1000),
    }));
    const apart = median(figures.map((figure) => Math.abs(figure.probe - figure.noService)));
    console.log(`incidents on ${on.kind}, ms: ${JSON.stringify(figures)}; service and probe: ${apart} ms apart`);
    const told = await pointsman.admin('/incidents/latest?format=text');
    expect(told.text).toContain(document.summary);
    expect(Buffer.byteLength(told.text)).toBeLessThanOrEqual(65_536);
    expect(document.kinds).toContain('primary_lost');
    expect(routes.length, document.summary).toBe(3);
    expect(await count(pointsman)).toBe(1);
    expect(of(document, 'plan').map(({ planned }) => planned)).toEqual(['unplanned', 'unplanned', 'unplanned']);
    expect(apart, JSON.stringify(figures)).toBeLessThan(500);
  }, 420_000);

  it('a switchover that somebody requested is labelled as planned', async () => {
    const pointsman = await start();
    const writes = await probe(pointsman);
    await lab.cluster.waitUntilHealthy();
    const old = await lab.cluster.leader();
    await pointsman.waitFor('writes', () => writes.hasWrittenOn(serverName(old)));
    await lab.cluster.switchover();
    const gap = await pointsman.waitFor('writes after it', () => writes.gapAfter(serverName(old)), 60_000);
    console.log(`switchover on ${on.kind}: ${Math.round(gap.writes)} ms without writes`);
    const document = await latest(pointsman);
    expect(document.planned, JSON.stringify(of(document, 'plan'))).toBe('planned');
    expect(of(document, 'plan')).toMatchObject([{ by: 'cluster_manager' }]);
  }, 120_000);
});

function of<Name extends Finding['finding']>(document: IncidentDocument, name: Name): readonly FindingOf<Name>[] {
  return document.findings.filter((one): one is FindingOf<Name> => one.finding === name);
}

async function latest(pointsman: PointsmanProcess): Promise<IncidentDocument> {
  const { status, text: body } = await pointsman.admin('/incidents/latest');
  if (status !== 200) throw new Error(`${status} ${body}\n${pointsman.explain()}`);
  const { api_version: _, ...document } = JSON.parse(body);
  return incidentDocument.parse(document);
}

async function count(pointsman: PointsmanProcess): Promise<number> {
  return JSON.parse((await pointsman.admin('/incidents')).text).incidents.length;
}

/** Milliseconds. */
interface Gap {
  /** From one write to the next one, as the application sees it: with logins and statements. */
  readonly writes: number;
  /** From the first failed attempt, or the start of the one that had to wait, to the first word of the next server. */
  readonly service: number;
}

/** A client that connects, writes one row and leaves, again and again: one attempt after the other, without a pause. */
class WriteProbe {
  readonly #attempts: Attempt[] = [];
  #isStopped = false;
  readonly #run: Promise<void>;

  constructor(attempt: () => Promise<Attempt>) {
    this.#run = this.#go(attempt);
  }

  async #go(attempt: () => Promise<Attempt>): Promise<void> {
    while (!this.#isStopped) {
      this.#attempts.push(await attempt());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  hasWrittenOn(server: string): boolean {
    return this.#attempts.at(-1)?.server === server;
  }

  /** Around the last write on this server. Undefined: no other server has written yet. */
  gapAfter(server: string): Gap | undefined {
    const at = this.#attempts.findLastIndex((attempt) => attempt.server === server);
    const last = this.#attempts[at];
    const later = this.#attempts.slice(at + 1);
    const next = later.find((one) => one.server !== undefined);
    if (last === undefined || next?.reachedAtMs === undefined) return undefined;
    const [first] = later;
    const noticedAtMs = first === undefined || first === next ? next.startedAtMs : first.endedAtMs;
    return { writes: next.endedAtMs - last.endedAtMs, service: next.reachedAtMs - noticedAtMs };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#run;
  }
}
