// The dynamic configuration before and after a change, and what follows for the members. Pure.
import { isRecord } from '../model/json.ts';
import type { ParameterChange } from '../patroni/restart-state.ts';
import type { ClusterConfiguration } from '../documents/cluster-documents.ts';
import { needsRestart } from './parameter-contexts.ts';

/** The configuration that PATCH /config makes of `config`: a map changes key by key, a null removes its key. */
export function patched(config: ClusterConfiguration, changes: ClusterConfiguration): ClusterConfiguration {
  const result = new Map(Object.entries(config));
  for (const [key, value] of Object.entries(changes)) {
    const old = result.get(key);
    if (value === null) result.delete(key);
    else result.set(key, isRecord(value) ? patched(isRecord(old) ? old : {}, value) : value);
  }
  return Object.fromEntries(result);
}

/** By parameter. Null: not in the configuration. */
export type ParameterChanges = Readonly<Record<string, ParameterChange>>;

/** The parameters of PostgreSQL (`postgresql.parameters`) that differ. */
export function parameterChanges(before: ClusterConfiguration, after: ClusterConfiguration): ParameterChanges {
  const [old, now] = [parametersOf(before), parametersOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const changes = names.map(
    (name) => [name, { old_value: old.get(name) ?? null, new_value: now.get(name) ?? null }] as const,
  );
  return Object.fromEntries(changes.filter(([, change]) => change.old_value !== change.new_value));
}

function parametersOf(config: ClusterConfiguration): ReadonlyMap<string, string> {
  const postgresql = config['postgresql'];
  const parameters = isRecord(postgresql) ? postgresql['parameters'] : undefined;
  if (!isRecord(parameters)) return new Map();
  return new Map(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/** A change of the configuration counts for every member. Each marks itself when it needs a restart. */
export interface RestartNeeds {
  /** Parameters that need a restart of every member. */
  readonly needed: readonly string[];
  /** Parameters that are not known, or need a restart in some versions only. */
  readonly perhaps: readonly string[];
}

export function restartNeeds(changes: ParameterChanges): RestartNeeds {
  const names = Object.keys(changes);
  return {
    needed: names.filter((name) => needsRestart(name) === 'yes'),
    perhaps: names.filter((name) => needsRestart(name) === 'maybe'),
  };
}
