// The Grafana dashboards: the files are those of the generator, and each panel can be read without knowing Pointsman.
// test/e2e/prometheus.test.ts tries their queries.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { dashboardFiles } from '../../support/deploy/monitoring/dashboards/all.ts';
import { readAlerts } from '../../support/deploy/monitoring/rules.ts';

const alerts = await readAlerts();
const files = dashboardFiles();

const place = z.strictObject({ x: z.number(), y: z.number(), w: z.number(), h: z.number() });
const row = z.looseObject({ type: z.literal('row'), id: z.number(), title: z.string().min(1), gridPos: place });
const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const panel = z.looseObject({
  type: z.enum(['stat', 'timeseries', 'state-timeline', 'table']),
  id: z.number(),
  title: z.string().min(1),
  description: z.string().regex(/^[A-Z0-9].*\.$/),
  gridPos: place,
  datasource,
  fieldConfig: z.looseObject({
    defaults: z.looseObject({
      unit: z.string().min(1),
      thresholds: z.looseObject({
        steps: z.array(z.strictObject({ value: z.number().nullable(), color: z.string() })),
      }),
    }),
  }),
  targets: z.array(z.looseObject({ expr: z.string().min(1), datasource })).min(1),
  links: z.array(z.looseObject({ title: z.string(), url: z.string() })).default([]),
});
const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  description: z.string().min(1),
  panels: z.array(z.union([row, panel])),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string() })) }),
  annotations: z.object({ list: z.array(z.looseObject({ name: z.string(), expr: z.string() })).min(1) }),
});

test('three dashboards, in deploy/grafana and in the chart', () => {
  expect(files.map(([path]) => path.replace(/^.*\/deploy\//, ''))).toEqual(
    ['overview', 'failover', 'fleet'].flatMap((name) => [
      `grafana/dashboards/${name}.json`,
      `kubernetes/chart/files/dashboards/${name}.json`,
    ]),
  );
});

describe.each(files)('%s', (path, text) => {
  const { panels, templating, uid } = dashboard.parse(JSON.parse(text));
  const withQueries = panels.flatMap((one) => (panel.safeParse(one).success ? [panel.parse(one)] : []));

  test('is the file of the generator (npm run monitoring)', () => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('panels have places of their own, and ids', () => {
    expect(withQueries.length).toBeGreaterThan(10);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos, title } of panels) expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (const { fieldConfig, title } of withQueries) {
      expect(fieldConfig.defaults.thresholds.steps[0]?.value, title).toBeNull();
    }
  });

  test('every query is about the chosen cluster', () => {
    for (const { title, targets } of withQueries) {
      for (const { expr } of targets) expect(expr, title).toContain('$scope');
    }
  });

  test('variables, an address, and links to headings of the runbook', () => {
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'scope', 'instance', 'runbook']);
    // Grafana's limit.
    expect(uid).toMatch(/^[\w-]{8,40}$/);
    const known = new Set(alerts.map(({ alert }) => `\${runbook}#${alert.toLowerCase()}`));
    const links = withQueries.flatMap((one) => one.links.map(({ url }) => url));
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((url) => !known.has(url))).toEqual([]);
  });
});

test('every alert has a panel that links to its heading', () => {
  const all = files.map(([, text]) => text).join('\n');
  const unlinked = alerts.map(({ alert }) => alert).filter((alert) => !all.includes(`#${alert.toLowerCase()}"`));
  expect(unlinked).toEqual([]);
});
