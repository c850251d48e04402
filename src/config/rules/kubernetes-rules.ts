// Rules for cluster.kubernetes: the keys that exclude each other, and the values that a label can have.
import { error, type Fault, type Path } from '../fault.ts';
import { LABEL_VALUE, SCOPE_LABEL, type ParsedKubernetes } from '../schema/kubernetes-section.ts';

const AT: Path = ['cluster', 'kubernetes'];

export function kubernetesRules(parsed: ParsedKubernetes | undefined, scope: string | undefined): readonly Fault[] {
  if (parsed === undefined) return [];
  const { service } = parsed;
  const scopePath: Path = ['cluster', 'scope'];
  if (service !== undefined) {
    return (['labels', 'scope_label', 'role_label'] as const).flatMap((key) =>
      parsed[key] === undefined ? [] : [error(`is for pods: leave it out, or leave out service`, [...AT, key], AT)],
    );
  }
  const label = parsed.scope_label ?? SCOPE_LABEL;
  if (scope === undefined) {
    return [
      error(`pods are found by their label ${label}=SCOPE: give cluster.scope, or kubernetes.service`, AT, scopePath),
    ];
  }
  if (LABEL_VALUE.test(scope)) return [];
  return [error(`"${scope}" cannot be the value of the label ${label}: give kubernetes.service`, scopePath, AT)];
}
