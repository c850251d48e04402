// Changes of the dynamic configuration: KEY=VALUE of the command line into the object of PATCH /config, and the
// smallest PATCH between two configurations. Pure but for the YAML of a value.
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../model/json.ts';
import { parseDocument } from 'yaml';
import type { ClusterConfiguration } from '../../documents/cluster-documents.ts';
import type { ParsedConfig } from './config-text.ts';

interface ValueAssignment {
  readonly given: string;
  readonly path: readonly string[];
  /** Null removes the key. */
  readonly value: unknown;
}

/**
 * Parses `ttl=20`, `postgresql.parameters.work_mem=8MB`, `ttl=` and `ttl=null` (both remove the key). A problem: one
 * sentence for each argument that is wrong.
 */
export function parseAssignments(given: readonly string[]): ParsedConfig {
  const parsed = given.map(parseAssignment);
  const problems = parsed.filter((one) => typeof one === 'string');
  const assignments = parsed.filter((one) => typeof one !== 'string');
  problems.push(...conflicts(assignments));
  if (problems.length > 0) return { kind: 'invalid', problems };
  return { kind: 'config', config: toTree(assignments) };
}

function parseAssignment(given: string): ValueAssignment | string {
  const at = given.indexOf('=');
  if (at === -1) return `${given} has no "=": write ${given}=VALUE, or ${given}= to remove it`;
  const path = pathOf(given.slice(0, at).trim());
  if (path.some((part) => part === '')) return `${given}: the key has an empty part`;
  const text = given.slice(at + 1);
  if (text.trim() === '') return { given, path, value: null };
  const document = parseDocument(text, { version: '1.2' });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined)
    return `${given}: the value is not valid YAML: put it in quotes (${firstLine(fault.message)})`;
  const value: unknown = document.toJS();
  if (typeof value === 'number' && !Number.isFinite(value)) return `${given}: JSON has no such number`;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `${given}: the number is too large to be sent exactly: put it in quotes, as a text`;
  }
  return { given, path, value };
}

/** The name of a PostgreSQL parameter may have a dot: `postgresql.parameters.auto_explain.log_min_duration`. */
function pathOf(key: string): readonly string[] {
  const parts = key.split('.');
  const isParameter = parts[0] === 'postgresql' && parts[1] === 'parameters' && parts.length > 3;
  return isParameter ? ['postgresql', 'parameters', parts.slice(2).join('.')] : parts;
}

function conflicts(assignments: readonly ValueAssignment[]): readonly string[] {
  return assignments.flatMap((later, index) => {
    const earlier = assignments
      .slice(0, index)
      .find(({ path }) => isWithin(path, later.path) || isWithin(later.path, path));
    return earlier === undefined ? [] : [`${later.given} and ${earlier.given} set the same key`];
  });
}

function isWithin(outer: readonly string[], inner: readonly string[]): boolean {
  return outer.every((part, index) => inner[index] === part);
}

function toTree(assignments: readonly Pick<ValueAssignment, 'path' | 'value'>[]): ClusterConfiguration {
  const byKey = Map.groupBy(assignments, ({ path }) => path[0] ?? '');
  const entries = [...byKey].map(([key, own]) => {
    const whole = own.find(({ path }) => path.length === 1);
    const rest = own.map(({ path, value }) => ({ path: path.slice(1), value }));
    return [key, whole === undefined ? toTree(rest) : whole.value] as const;
  });
  return Object.fromEntries(entries);
}

/** The smallest PATCH that turns one configuration into the other. Empty: they are the same. */
export function patchBetween(before: ClusterConfiguration, after: ClusterConfiguration): ClusterConfiguration {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key) || after[key] === null);
  const changed = Object.entries(after).flatMap(([key, value]) => {
    if (value === null) return [];
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isDeepStrictEqual(old, value)) return [];
    return [[key, isRecord(value) && isRecord(old) ? patchBetween(old, value) : value] as const];
  });
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...changed]);
}

/** The same with every PostgreSQL parameter as a text, as the management API has them. */
export function withTextParameters(config: ClusterConfiguration): ClusterConfiguration {
  const { postgresql } = config;
  if (!isRecord(postgresql) || !isRecord(postgresql['parameters'])) return config;
  const texts = Object.entries(postgresql['parameters']).map(([name, value]) => {
    const isPlain = typeof value === 'number' || typeof value === 'boolean';
    return [name, isPlain ? String(value) : value] as const;
  });
  return { ...config, postgresql: { ...postgresql, parameters: Object.fromEntries(texts) } };
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
