// Reads what the tests of the chart compare: the values of a command, the ports of a policy, the alerts of a rule.
import { Document } from 'yaml';
import { z } from 'zod';
import { manifestOf } from './manifests.ts';
import type { Manifest } from './manifests.ts';
import type { Rendered } from './render-chart.ts';

export function manifestsOf(outcome: Rendered): readonly Manifest[] {
  if (outcome.kind === 'refused') throw new Error(outcome.why);
  return outcome.manifests;
}

export function kindsOf(manifests: readonly Manifest[]): readonly string[] {
  return manifests.map(({ kind }) => kind).toSorted();
}

/** The values of `--set a.b=c` and `--set 'a.b={c,d}'`. */
export function valuesSetBy(command: string): Readonly<Record<string, unknown>> {
  const document = new Document({});
  for (const [, path = '', text = ''] of command.matchAll(/--set '?([\w.]+)=(\{[^}]*\}|[^\s']+)/g)) {
    const list = /^\{(.*)\}$/.exec(text)?.[1]?.split(',');
    document.setIn(path.split('.'), list ?? (text === 'true' || text));
  }
  return z.record(z.string(), z.unknown()).parse(document.toJS());
}

/** The ports that a policy lets its pods connect to, by number or name. */
export function portsTo(policy: Manifest): readonly (number | string)[] {
  const ports = z.object({ ports: z.array(z.object({ port: z.union([z.number(), z.string()]) })) });
  const { spec } = z.object({ spec: z.object({ egress: z.array(ports) }) }).parse(policy);
  return spec.egress.flatMap(({ ports: some }) => some.map(({ port }) => port));
}

/** Recording rules have their own groups. */
export function alertsOf(manifests: readonly Manifest[]) {
  const texts = z.record(z.string(), z.string());
  const rule = z.looseObject({ alert: z.string(), expr: z.string(), labels: texts, annotations: texts });
  const spec = z.object({ groups: z.array(z.object({ rules: z.array(z.unknown()) })) });
  return spec
    .parse(manifestOf(manifests, 'PrometheusRule')['spec'])
    .groups.flatMap(({ rules }) => rules.flatMap((one) => rule.safeParse(one).data ?? []));
}
