// The kinds of panels in our dashboards, made by the builders of Grafana's own SDK: their types are the only schema
// that can be had without Grafana.
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StatesBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** A query, and the legend of its series. */
export type Query = readonly [expr: string, legend?: string];

/** From this value on (null: from the lowest) the panel has this colour. */
export type Step = readonly [value: number | null, color: 'green' | 'orange' | 'red' | 'blue' | 'text'];

interface Basics {
  readonly title: string;
  readonly description: string;
  readonly queries: readonly Query[];
  /** One of Grafana's: `s`, `bytes`, `short`, `percentunit`, … */
  readonly unit: string;
  /** Alerts about the same thing: the panel links to their headings in the runbook. */
  readonly alerts?: readonly string[];
  /** The width, in columns of 24. */
  readonly width: number;
  readonly steps?: readonly Step[];
  /** Names for values. */
  readonly names?: Readonly<Record<number, readonly [text: string, color: string]>>;
}

export interface Laid {
  readonly panel: Panel;
  readonly width: number;
  readonly height: number;
}

const NEUTRAL: readonly Step[] = [[null, 'text']];

export interface Stat extends Basics {
  /** Show the names of series instead of their values. */
  readonly isNamed?: boolean;
}

/** The newest value of each series, large. */
export function stat({ isNamed = false, ...basics }: Stat): Laid {
  const builder = new StatBuilder()
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .textMode(isNamed ? BigValueTextMode.Name : BigValueTextMode.Auto)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .noValue('none');
  return laid(common(builder, basics, 'now').build(), basics.width, 4);
}

export interface Lines extends Basics {
  readonly isStacked?: boolean;
  /** The top of the axis. */
  readonly max?: number;
}

/** Values over time. */
export function lines({ isStacked = false, max, ...basics }: Lines): Laid {
  const builder = new TimeSeriesBuilder()
    .min(0)
    .lineWidth(1)
    .fillOpacity(isStacked ? 30 : 8)
    .showPoints(VisibilityMode.Never)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi));
  if (isStacked) builder.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  if (max !== undefined) builder.max(max);
  return laid(common(builder, basics, 'range').build(), basics.width, 8);
}

export interface States extends Basics {
  readonly height?: number;
}

/** One bar for each series, coloured by its value. */
export function states({ height = 6, ...basics }: States): Laid {
  const builder = new StatesBuilder()
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.9)
    .fillOpacity(80)
    .lineWidth(0)
    .legend(new VizLegendOptionsBuilder().showLegend(false).displayMode(LegendDisplayMode.List))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Single));
  return laid(common(builder, basics, 'range').build(), basics.width, height);
}

export interface Column {
  readonly title: string;
  readonly unit?: string;
  readonly steps?: readonly Step[];
  readonly names?: Basics['names'];
}

export interface Table extends Omit<Basics, 'unit'> {
  /** The columns with values, in the order of the queries; `null` has none. Labels are columns of their own. */
  readonly columns: readonly (Column | null)[];
  /** Labels that are no columns. */
  readonly hidden?: readonly string[];
  readonly height?: number;
}

/** The newest values by their labels, one row for each combination. */
export function table({ columns, hidden = [], height = 8, ...basics }: Table): Laid {
  const fields = columns.map((column, index) => ({
    field: columns.length === 1 ? 'Value' : `Value #${refId(index)}`,
    title: column?.title,
  }));
  const excluded = [...hidden, '__name__', 'Time', ...fields.filter(({ title }) => title === undefined).map(fieldOf)];
  const builder = new TableBuilder()
    .transformations([
      { id: 'merge', options: {} },
      {
        id: 'organize',
        options: {
          excludeByName: Object.fromEntries(excluded.map((name) => [name, true])),
          renameByName: Object.fromEntries(fields.flatMap(({ field, title }) => (title ? [[field, title]] : []))),
        },
      },
    ])
    .noValue('');
  for (const { title, unit = 'short', steps, names } of columns.filter((column) => column !== null)) {
    builder.overrideByName(title, [
      { id: 'unit', value: unit },
      ...(names === undefined ? [] : [{ id: 'mappings', value: [mappingOf(names)] }]),
      ...(steps === undefined ? [] : [{ id: 'thresholds', value: thresholdsOf(steps).build() }]),
      ...((steps ?? names) ? [{ id: 'custom.cellOptions', value: { type: 'color-text' } }] : []),
    ]);
  }
  return laid(common(builder, { ...basics, unit: 'short' }, 'table').build(), basics.width, height);
}

function fieldOf({ field }: { readonly field: string }): string {
  return field;
}

type AnyBuilder = StatBuilder | TimeSeriesBuilder | StatesBuilder | TableBuilder;

/** The parts that every panel has. `now` and `table` ask for the newest value alone. */
function common<Builder extends AnyBuilder>(
  builder: Builder,
  basics: Basics,
  kind: 'now' | 'range' | 'table',
): Builder {
  const { title, description, queries, unit, alerts = [], steps = NEUTRAL, names } = basics;
  builder.title(title).description(description).datasource(DATASOURCE).unit(unit).thresholds(thresholdsOf(steps));
  if (names !== undefined) builder.mappings([mappingOf(names)]);
  for (const [index, [expr, legend]] of queries.entries()) {
    const query = new DataqueryBuilder().datasource(DATASOURCE).refId(refId(index)).expr(expr);
    if (legend !== undefined) query.legendFormat(legend);
    if (kind === 'range') query.range();
    else query.instant().format(kind === 'table' ? PromQueryFormat.Table : PromQueryFormat.TimeSeries);
    builder.withTarget(query);
  }
  if (alerts.length > 0) builder.links(alerts.map(runbookLink));
  return builder;
}

function runbookLink(alert: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(`Runbook: ${alert}`)
    .type(DashboardLinkType.Link)
    .url(`\${runbook}#${alert.toLowerCase()}`)
    .targetBlank(true);
}

function thresholdsOf(steps: readonly Step[]): ThresholdsConfigBuilder {
  const made = steps.map(([value, color]) => ({ value, color }));
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(made);
}

function mappingOf(names: NonNullable<Basics['names']>): ValueMapping {
  const options = Object.entries(names).map(([value, [text, color]], index) => [value, { text, color, index }]);
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}

function refId(index: number): string {
  return String.fromCodePoint(0x41 + index);
}

function laid(panel: Panel, width: number, height: number): Laid {
  return { panel, width, height };
}
