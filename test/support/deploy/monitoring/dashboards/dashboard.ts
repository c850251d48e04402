// A dashboard around its panels: variables, annotations, links, and the place of each panel. The SDK's own builder of
// whole dashboards is deprecated for a format that only the newest Grafana reads, so the frame is made here.
import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './panels.ts';
import type { Laid } from './panels.ts';

/** The labels of the chosen Pointsmen, for every query. */
export const CHOSEN = 'scope=~"$scope",job=~"$job",instance=~"$instance"';
/** The chosen clusters, for series of recording rules. */
export const CHOSEN_CLUSTERS = 'scope=~"$scope",job=~"$job"';
export const RATE = '[$__rate_interval]';

export const YES_NO = { 0: ['no', 'red'], 1: ['yes', 'green'] } as const;

/** The path of the page in the repository. A release puts its own address before it, the chart that of its values. */
const RUNBOOK = 'deploy/runbook.md';

export interface Row {
  readonly title: string;
  readonly panels: readonly Laid[];
}

export interface Dashboard {
  /** The name of its file and its address in Grafana. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** How far it looks back. */
  readonly from: string;
  /** Several clusters at once. */
  readonly hasManyClusters: boolean;
  readonly rows: readonly Row[];
}

/** The file for Grafana. */
export function dashboardText({ name, title, description, from, hasManyClusters, rows }: Dashboard): string {
  const document = {
    uid: `pointsman-${name}`,
    title,
    description,
    tags: ['pointsman', 'postgresql'],
    // Grafana 10. Later versions convert it when they load it.
    schemaVersion: 38,
    version: 1,
    editable: true,
    // A shared crosshair.
    graphTooltip: 1,
    timezone: 'browser',
    refresh: '30s',
    time: { from, to: 'now' },
    templating: { list: variables(hasManyClusters) },
    annotations: { list: annotations() },
    links: [
      {
        title: 'Pointsman',
        type: 'dashboards',
        tags: ['pointsman'],
        asDropdown: true,
        keepTime: true,
        includeVars: true,
        targetBlank: false,
        icon: 'external link',
        tooltip: '',
        url: '',
      },
      {
        title: 'Runbook',
        type: 'link',
        tags: [],
        asDropdown: false,
        keepTime: false,
        includeVars: false,
        targetBlank: true,
        icon: 'doc',
        tooltip: 'What to do when an alert fires',
        url: '${runbook}',
      },
    ],
    panels: placed(rows),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function query(name: string, label: string, text: string): QueryVariableBuilder {
  const builder = new QueryVariableBuilder(name).label(label).datasource(DATASOURCE).query(text).definition(text);
  builder.refresh(VariableRefresh.OnTimeRangeChanged);
  // oxlint-disable-next-line unicorn/no-array-sort -- no array: the order of the names in the list
  return builder.sort(VariableSort.NaturalAsc);
}

function withAll(builder: QueryVariableBuilder): QueryVariableBuilder {
  return builder.multi(true).includeAll(true).current(ALL);
}

function variables(hasManyClusters: boolean): readonly VariableModel[] {
  const scope = query('scope', 'cluster', 'label_values(pointsman_build_info{job=~"$job"}, scope)');
  return [
    new DatasourceVariableBuilder('datasource').label('data source').type('prometheus'),
    withAll(query('job', 'job', 'label_values(pointsman_build_info, job)')),
    // One cluster at a time unless clusters are compared: their members can have the same names.
    hasManyClusters ? withAll(scope) : scope,
    withAll(query('instance', 'instance', 'label_values(pointsman_build_info{job=~"$job",scope=~"$scope"}, instance)')),
    new TextBoxVariableBuilder('runbook')
      .label('runbook')
      .description('The address of the page that the links to the runbook open.')
      .defaultValue(RUNBOOK),
  ].map((one) => one.build());
}

const ALL = { selected: true, text: 'All', value: '$__all' };

function annotations(): readonly object[] {
  const base = { datasource: DATASOURCE, enable: true, hide: false, step: '', textFormat: '' };
  return [
    {
      ...base,
      name: 'Changes of the primary',
      iconColor: 'purple',
      expr: `max by (scope, kind) (pointsman_primary_last_change_timestamp_seconds{${CHOSEN}}) * 1000`,
      titleFormat: '{{scope}}: {{kind}}',
      tagKeys: 'scope,kind',
      // The value of the metric is the time of the change, in milliseconds.
      useValueForTime: true,
    },
    {
      ...base,
      name: 'No write route',
      iconColor: 'red',
      expr: `max by (scope, pool) (pointsman_pool_route{${CHOSEN},pool="write",route="open"}) == 0`,
      titleFormat: '{{scope}}: no route in pool {{pool}}',
      tagKeys: 'scope,pool',
      useValueForTime: false,
    },
  ];
}

const COLUMNS = 24;

/** From left to right and from top to bottom, with a title above each row. */
function placed(rows: readonly Row[]): readonly object[] {
  const out: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    out.push({
      id: out.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
    });
    y += 1;
    let [x, height] = [0, 0];
    for (const { panel, width, height: h } of panels) {
      if (x + width > COLUMNS) [x, y, height] = [0, y + height, 0];
      out.push({ id: out.length + 1, ...panel, gridPos: { x, y, w: width, h } });
      [x, height] = [x + width, Math.max(height, h)];
    }
    y += height;
  }
  return out;
}
