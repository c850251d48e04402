// A real Prometheus scrapes a real Pointsman through a switchover and a kill of the primary. Every query of every
// dashboard, and every metric of every rule, has data then: a name that exists nowhere gives an empty panel, not an
// error.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { dashboardFiles } from '../support/deploy/monitoring/dashboards/all.ts';
import { ALERTS, readAlerts, readRecordings, RECORDINGS } from '../support/deploy/monitoring/rules.ts';
import { CREATE_WRITES, READ_ROW, startConnectLoad, WRITE_ROW } from '../support/applications/connect-load.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { switchOnTls } from '../support/clusters/switch-on-tls.ts';
import { questions, userlist } from '../support/clusters/userlist.ts';
import { missingPrometheus, PrometheusProcess } from '../support/processes/prometheus-process.ts';
import type { TimeRange } from '../support/processes/prometheus-process.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';
import { SERVER, tlsFile } from '../support/values/tls-files.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const SCRAPES = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' };

/** Metrics of the rules without data here, with the reason. */
const NO_DATA: Readonly<Record<string, string>> = {
  pointsman_member_drained_timestamp_seconds: 'no member is drained',
};

interface PanelQuery {
  readonly name: string;
  readonly expr: string;
}

const panel = z.looseObject({
  title: z.string(),
  targets: z.array(z.looseObject({ refId: z.string(), expr: z.string() })).default([]),
});
const dashboard = z.looseObject({
  title: z.string(),
  panels: z.array(panel),
  annotations: z.object({ list: z.array(z.looseObject({ name: z.string(), expr: z.string() })) }),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string(), query: z.string().default('') })) }),
});

const listed = z.looseObject({ sessions: z.array(z.looseObject({ id: z.number() })) });

/** Every query, as Grafana sends it when all jobs and instances are chosen. */
function panelQueries(scope: string): readonly PanelQuery[] {
  const texts = new Set(dashboardFiles().map(([, text]) => text));
  return [...texts].flatMap((text) => {
    const { title, panels, annotations, templating } = dashboard.parse(JSON.parse(text));
    const asked = [
      ...panels.flatMap((one) =>
        one.targets.map(({ refId, expr }) => ({ name: `${title} / ${one.title} / ${refId}`, expr })),
      ),
      ...annotations.list.map(({ name, expr }) => ({ name: `${title} / annotation ${name}`, expr })),
      ...templating.list.flatMap(({ name, query }) => {
        const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
        if (selector === undefined) return [];
        return [{ name: `${title} / variable ${name}`, expr: `count by (${label}) (${selector})` }];
      }),
    ];
    return asked.map(({ name, expr }) => ({ name, expr: withValues(expr, scope) }));
  });
}

function withValues(expr: string, scope: string): string {
  const values: Readonly<Record<string, string>> = {
    scope,
    job: 'pointsman',
    instance: '.+',
    __rate_interval: '5s',
    __range: '60s',
  };
  return expr.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for the variable ${name} in ${expr}`);
    return value;
  });
}

/** The selectors of our metrics in an expression. */
function selectorsOf(expr: string): readonly string[] {
  return expr.match(/(?<![:\w])(?:pointsman|process|nodejs)_\w+(?:\{[^}]*\})?/g) ?? [];
}

describeUnless(missingPrometheus, 'with Prometheus', () => {
  describeOnSandbox('a switchover and a kill of the primary, scraped', (on) => {
    let directory = '';
    const lab = on.clusterWithPointsman({
      sql: CREATE_WRITES,
      // Workers, certificates, branches, moves, causal reads and latency have metrics of their own.
      pointsman: async (cluster) => {
        directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
        return {
          workers: 2,
          admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
          client: { tls: { mode: 'terminate', ...SERVER } },
          branches: { source: 'static', static: { 'pr-1': '127.0.0.1:1' } },
          backend: { tls: { mode: 'verify-full', ca_file: tlsFile('ca.pem'), server_name: 'pg-a.test' } },
          moves: { roles: [cluster.app.user], verifiers: { file: await userlist(cluster, directory) } },
          questions: await questions(cluster, directory),
          pools: { read: { balance: 'latency', causal_reads: { wait: '20s', late: 'error' } } },
        };
      },
    });
    let prometheus: PrometheusProcess;
    let start: number;

    const past = (): TimeRange => ({ start, end: Date.now() / 1000 });
    const has = async (expr: string): Promise<boolean> => (await prometheus.series(expr, past())).length > 0;
    const waitFor = (expr: string): Promise<unknown> => lab.pointsman.waitFor(`data of ${expr}`, () => has(expr));

    beforeAll(async () => {
      const [alerts, recordings] = await Promise.all([ALERTS, RECORDINGS].map((file) => readFile(file, 'utf8')));
      const target = `127.0.0.1:${await lab.pointsman.port('admin')}`;
      start = Date.now() / 1000;
      prometheus = await PrometheusProcess.start(
        {
          global: SCRAPES,
          rule_files: ['alerts.yaml', 'recordings.yaml'],
          scrape_configs: [{ job_name: 'pointsman', static_configs: [{ targets: [target] }] }],
        },
        { 'alerts.yaml': alerts ?? '', 'recordings.yaml': recordings?.replace(/interval: \w+/, 'interval: 1s') ?? '' },
      );
      // A client that waits for a member with TLS.
      await lab.pointsman.waitUntilReady();
      const waiting = HeldSession.open(await lab.pointsman.port('write'), lab.cluster.app);
      await waitFor('sum(rate(pointsman_member_tls_failures_total[5s])) > 0');
      await switchOnTls(lab.cluster);
      await (await waiting).close();
    });
    afterAll(async () => {
      await prometheus.stop();
      await rm(directory, { recursive: true, force: true });
    });

    /** The only session, to the same server. */
    const moveSession = async (): Promise<void> => {
      const admin = `http://127.0.0.1:${await lab.pointsman.port('admin')}`;
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const { sessions } = listed.parse(await (await fetch(`${admin}/sessions`, { headers })).json());
      expect(sessions.length).toBe(1);
      const moved = await fetch(`${admin}/sessions/${sessions[0]?.id}/move`, { method: 'POST', headers, body: '{}' });
      expect(await moved.json()).toMatchObject({ result: 'moved' });
    };

    it('every query of every panel, alert and recording rule has data', async () => {
      const { cluster, pointsman } = lab;
      await waitFor('pointsman_pool_route{pool="write",route="open"} == 1');
      const [write, read] = await Promise.all(['write', 'read'].map((pool) => pointsman.port(pool)));
      const session = await HeldSession.open(write ?? 0, cluster.app);
      await moveSession();
      await expect(HeldSession.open(write ?? 0, { ...cluster.app, database: 'nowhere' })).rejects.toThrow('nowhere');
      const client = { host: '127.0.0.1', ...cluster.app, perSecond: 20 };
      const loads = [
        startConnectLoad({ ...client, port: write ?? 0, sql: WRITE_ROW }),
        startConnectLoad({ ...client, port: read ?? 0, sql: READ_ROW }),
      ];
      try {
        const next = await cluster.switchover();
        await waitFor('pointsman_primary_changes_total{kind="switchover"} == 1');
        await pointsman.waitFor('the end of the session on the old primary', () => session.endedAtMs !== undefined);
        await cluster.waitUntilHealthy();
        // Without the store no other member can become primary, so every scrape of this time sees no route.
        await cluster.setStoreOutage(true);
        await cluster.kill(next.name);
        await waitFor('ALERTS{alertname="PointsmanPoolClosed",alertstate="pending",pool="write"}');
        await waitFor('pointsman_held_clients{pool="write"} > 0');
        await cluster.setStoreOutage(false);
        await waitFor('pointsman_primary_changes_total{kind="failover"} == 1');

        // The rule needs a minute to fire, and so it is pending; its texts are rendered all the same.
        await pointsman.waitFor('the alert about the silent member', async () =>
          (await prometheus.alerts()).some(
            ({ labels, annotations }) =>
              labels['alertname'] === 'PointsmanMemberSilent' &&
              annotations['summary'] === `Member ${next.name} of cluster ${cluster.scope} does not answer`,
          ),
        );

        const empty: string[] = [];
        for (const { name, expr } of panelQueries(cluster.scope)) {
          // A panel that shows 0 instead of nothing must not hide a name that is wrong.
          for (const part of [expr, ...selectorsOf(expr)]) {
            const isThere = await pointsman.waitFor(part, () => has(part), 5000).catch(() => false);
            if (!isThere) empty.push(`${name}: ${part}`);
          }
        }
        expect(empty).toEqual([]);
      } finally {
        for (const load of loads) await load.stop();
      }
    }, 180_000);

    it('every alert and recording rule finds its metrics', async () => {
      const [alerts, recordings] = await Promise.all([readAlerts(), readRecordings()]);
      for (const { record } of recordings) await waitFor(record);
      const without = new Set<string>();
      for (const { expr } of [...alerts, ...recordings]) {
        await prometheus.series(expr, past());
        for (const selector of selectorsOf(expr)) if (!(await has(selector))) without.add(selector);
      }
      expect([...without].toSorted()).toEqual(Object.keys(NO_DATA).toSorted());
      for (const { annotations } of await prometheus.alerts()) {
        expect(Object.values(annotations).join(' ')).not.toMatch(/<error expanding|<no value>|%!/);
      }
    });
  });
});
