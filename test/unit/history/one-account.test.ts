// One story, told by metrics, status, timeline, incident and log: they say the same of it. The parts are those of the
// program, joined as app/app.ts joins them; the members' answers and the clients are scripted.
import { expect, test } from 'vitest';
import { Spans } from '../../../src/admin/spans.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import { ClusterHistory } from '../../../src/history/cluster-history.ts';
import { incidentAt } from '../../../src/incidents/incident-views.ts';
import { Outages } from '../../../src/incidents/outages.ts';
import { FlightRecorder } from '../../../src/incidents/recorder.ts';
import { NO_CLIENTS } from '../../../src/reports/counts.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';
import type { ProxyEvent, ReportedEvent } from '../../../src/reports/events.ts';
import { NO_TALLY } from '../../../src/reports/tally.ts';
import { logFields } from '../../../src/telemetry/log-fields.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createRecorder } from '../../../src/telemetry/record.ts';
import { WorkerStats } from '../../../src/workers/stats.ts';
import { LabMonitor } from '../../support/labs/lab-monitor.ts';
import { aPolicy } from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';
import { aStatusSource } from '../../support/values/status-source.ts';

// Loaded before the first incident, so that the clock does not run ahead of it.
await import('../../../src/incidents/incident-document.ts');

const policy = aPolicy();
const NOON = Date.UTC(2026, 10, 22, 12);

class Story {
  readonly lab = new LabMonitor(policy);
  readonly #lines: Readonly<Record<string, unknown>>[] = [];
  readonly #workers = new WorkerStats();
  readonly #tell: (event: ReportedEvent, at?: number) => void;
  readonly #metrics: () => Promise<string>;
  readonly #history: ClusterHistory;
  readonly #spans: Spans;
  readonly #incidents: FlightRecorder;

  constructor() {
    const { clock, monitor } = this.lab;
    const [ids, now, wallClock] = [new EventIds('r1'), () => clock.now(), () => NOON + clock.now()];
    const destination = { write: (line: string) => void this.#lines.push(JSON.parse(line)) };
    const { log } = createLog({ level: 'info', format: 'json', isTerminal: false, destination });
    const incidents = new FlightRecorder({
      clock,
      wallClock,
      ids,
      version: '1',
      workers: 2,
      words: { message: (event) => logLine(event, true).text(), fields: logFields },
      known: () => ({ table: monitor.table(), snapshot: monitor.snapshot(), pools: policy.pools }),
      counts: () => this.#workers.counts(),
      archive: { directory: undefined, maxBytes: 1024 * 1024, keep: 50, onFailing: expect.unreachable },
      onFault: (error) => expect.unreachable(String(error)),
    });
    const known = () => ({ policy, table: monitor.table(), snapshot: monitor.snapshot() });
    const history = new ClusterHistory({ known, recorded: () => incidents.recorded(), now, wallClock });
    const spans = new Spans({
      now,
      wallClock,
      history,
      incidentAt: (...time) => incidentAt(incidents.list(), ...time),
    });
    const metrics = createMetrics({
      version: '1',
      nodeVersion: 'v24',
      pools: ['write', 'read'],
      ...aStatusSource({
        now,
        wallClock,
        history,
        pools: () => policy.pools,
        table: () => monitor.table(),
        snapshot: () => monitor.snapshot(),
      }),
    });
    const recorder = createRecorder({
      log,
      clock,
      ids,
      count: metrics.count,
      observe: (event, number, at) => {
        history.take(event, at);
        incidents.take(event, number, at);
        spans.take(event, at);
        outages.take(event);
      },
    });
    const outages = new Outages({ waiting: history.waiting, incidents, tell: recorder.record });
    this.lab.onEvent = recorder.record;
    this.lab.onTable = () => {
      incidents.tableChanged();
      history.decided();
    };
    this.#tell = recorder.record;
    this.#metrics = metrics.text;
    [this.#history, this.#spans, this.#incidents] = [history, spans, incidents];
  }

  /** A client of a worker begins to wait. */
  waits(session: number, worker = 1): void {
    const client = { pool: 'write', session } as const;
    this.#report(worker, { kind: 'client_accepted', ...client, client: `10.0.0.1:${session}` });
    this.#report(worker, { kind: 'hold_started', ...client, cause: 'no_member' });
  }

  isServed(session: number, waitedMs: number, worker = 1): void {
    this.#report(worker, { kind: 'hold_ended', pool: 'write', session, outcome: 'released', waitedMs });
  }

  dies(worker: number): void {
    const ended = this.#workers.remove(worker, 'killed', this.lab.clock.now());
    for (const event of ended) this.#tell(event);
    const sessions = ended.filter(({ kind }) => kind === 'session_closed').length;
    this.#tell({ kind: 'worker_ended', worker, pid: 1, why: 'killed', sessions, replacedInMs: 100 });
  }

  happens(event: ReportedEvent): void {
    this.#tell(event);
  }

  /** As each of them tells it. */
  async told() {
    const { clock, monitor } = this.lab;
    await clock.advance(60_000);
    const [entry] = this.#incidents.list();
    const document = entry && (await this.#incidents.get(entry.id, {}));
    const finding = (name: string) =>
      document?.findings.filter((one) => one.finding === name && (!('pool' in one) || one.pool === 'write')) ?? [];
    const { cluster } = buildStatus({
      ...STATUS_BASICS,
      now: clock.now(),
      wallClock: NOON + clock.now(),
      pools: policy.pools,
      table: monitor.table(),
      snapshot: monitor.snapshot(),
      counts: new Map(),
      history: this.#history,
    });
    return {
      metrics: measured(await this.#metrics()),
      status: { seconds: cluster.last_interruption?.seconds, primary: cluster.primary?.member },
      spans: this.#spans.document().spans.filter(({ pool }) => pool === 'write'),
      incident: {
        planned: document?.planned,
        findings: [...finding('no_route'), ...finding('holds'), ...finding('plan')],
      },
      log: this.#lines.filter(({ event, pool }) => event === 'outage_summary' && pool === 'write'),
    };
  }

  #report(worker: number, event: ProxyEvent): void {
    const at = this.lab.clock.now();
    const usage = { cpuSeconds: 0, residentBytes: 0 };
    const nothing = { counts: new Map(), clients: NO_CLIENTS, tally: NO_TALLY, certificate: undefined, usage };
    this.#workers.update(worker, { ...nothing, events: [{ event, at }] }, at);
    this.#tell(event, at);
  }
}

function measured(text: string) {
  const sum = (series: RegExp): number =>
    text
      .split('\n')
      .filter((line) => series.test(line))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  const changes = (kind: string): number => sum(new RegExp(`^pointsman_primary_changes_total{.*kind="${kind}"`));
  return {
    changes: { failover: changes('failover'), switchover: changes('switchover') },
    held: sum(/^pointsman_holds_ended_total{.*pool="write"/),
    // Every start has a first moment without a route.
    seconds: sum(/^pointsman_pool_no_route_seconds_total{.*pool="write",cause="(?!starting)/),
  };
}

/** Clients wait for it: two are served, and a third one is in a worker that dies meanwhile. */
async function outage(loss: (story: Story) => Promise<void> | void) {
  const story = new Story();
  await story.lab.started();
  await story.lab.clock.advance(5_000);
  await loss(story);
  expect(story.lab.writeRoute()).toBe('hold');
  story.waits(1);
  story.waits(2, 2);
  story.waits(3, 2);
  await story.lab.clock.advance(500);
  story.isServed(3, 400, 2);
  story.waits(4);
  story.dies(2);
  story.lab.set('pg-2', { role: 'primary', timeline: 2 });
  story.lab.leader = 'pg-2';
  await story.lab.clock.advance(1_500);
  expect(story.lab.writeRoute()).toBe('pg-2');
  for (const session of [1, 4]) story.isServed(session, 2_000);
  return story.told();
}

type Told = Awaited<ReturnType<typeof outage>>;

/** All tell the same length, the same clients and the same plan. */
function expectOneStory({ metrics, status, spans, incident, log }: Told, planned: 'planned' | 'unplanned'): void {
  const isPlanned = planned === 'planned';
  expect(metrics.changes).toEqual({ failover: isPlanned ? 0 : 1, switchover: isPlanned ? 1 : 0 });
  expect(incident.planned).toBe(planned);
  expect(incident.findings.at(-1)).toMatchObject({ finding: 'plan', planned });
  expect(log.map((line) => line['planned'])).toEqual([planned]);
  const seconds = status.seconds ?? 0;
  expect(seconds).toBeGreaterThan(1);
  expect(metrics.seconds).toBeCloseTo(seconds, 3);
  expect(incident.findings[0]).toMatchObject({ finding: 'no_route', seconds });
  expect(log[0]).toMatchObject({ duration_ms: seconds * 1000, held: 4, longest_hold_ms: 2_000 });
  expect(incident.findings[1]).toMatchObject({ finding: 'holds', count: 4, released: 3, refused: 1 });
  expect(metrics.held).toBe(4);
  const [noRoute, waits] = ['no_route', 'hold'].map((kind) => spans.find((span) => span.kind === kind));
  expect(Date.parse(noRoute?.to ?? '') - Date.parse(noRoute?.from ?? '')).toBeCloseTo(seconds * 1000, 0);
  expect(noRoute?.severity).toBe(isPlanned ? 'info' : 'error');
  expect(waits?.text).toBe('pool write: 4 clients waited, longest 2 s, 1 not served');
  expect(status.primary).toBe('pg-2');
}

test('G21: a primary that dies', async () => {
  const told = await outage(async ({ lab }) => {
    lab.set('pg-1', { role: 'dead' });
    lab.leader = undefined;
    await lab.clock.advance(2_000);
  });
  expectOneStory(told, 'unplanned');
});

test('G21: a switchover that an operator runs here', async () => {
  const told = await outage(async (story) => {
    const operation = { operation: 'op-1', what: 'switchover' } as const;
    story.happens({ kind: 'operation_started', ...operation, to: 'pg-2' });
    const limits = { since: story.lab.clock.now(), mostMs: 30_000, transactionMs: 1_000 };
    story.lab.monitor.handOver({ operation: 'switchover', member: 'pg-1', phase: 'drain', ...limits });
    story.happens({ kind: 'operation_phase', ...operation, phase: 'switch' });
    // Its machine is switched off in the middle: it was wanted all the same.
    story.lab.set('pg-1', { role: 'dead' });
    await story.lab.clock.advance(500);
  });
  expectOneStory(told, 'planned');
});

test('G21: a switchover by another tool, in which one probe is lost', async () => {
  const told = await outage(async ({ lab }) => {
    lab.set('pg-1', { role: 'replica', state: 'stopping' });
    await lab.clock.advance(1_000);
    lab.set('pg-1', { role: 'silent' });
    await lab.clock.advance(300);
    lab.set('pg-1', { role: 'replica', state: 'running' });
    await lab.clock.advance(1_000);
  });
  expectOneStory(told, 'planned');
});
