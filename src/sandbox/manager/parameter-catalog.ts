// What parameters this PostgreSQL knows (pg_settings), so that a value it would not start with is left out instead. Patroni does the
// same: such a value stays in the dynamic configuration and is not applied.
import type { Parameters, PostgresServer } from '../postgres/server.ts';

export interface ParameterKind {
  readonly vartype: 'bool' | 'enum' | 'integer' | 'real' | 'string';
  readonly enumvals: readonly string[] | null;
  /** `internal` ones cannot be set at all. */
  readonly context: string;
}

export type Catalog = ReadonlyMap<string, ParameterKind>;

/** Undefined when the server does not say. */
export async function readCatalog(server: PostgresServer): Promise<Catalog | undefined> {
  try {
    const rows = await server.query<ParameterKind & { readonly name: string }>(
      'select name, vartype, enumvals, context from pg_settings',
    );
    return new Map(rows.map(({ name, ...kind }) => [name.toLowerCase(), kind]));
  } catch {
    return undefined;
  }
}

const BOOLEAN = /^(on|off|true|false|yes|no|t|f|y|n|1|0)$/i;
/** PostgreSQL, "Setting Parameters": a number, in hex or octal too, and a unit. */
const NUMBER =
  /^\s*[+-]?(0x[0-9a-f]+|\d+(\.\d*)?(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)\s*(B|kB|MB|GB|TB|us|ms|s|min|h|d)?\s*$/i;

/** Undefined when PostgreSQL takes it; ranges are PostgreSQL's own affair. */
export function whyUnusable(name: string, value: string, catalog: Catalog): string | undefined {
  // An extension's own: PostgreSQL keeps what it does not know when the name has a dot.
  if (name.includes('.')) return undefined;
  const kind = catalog.get(name);
  if (kind === undefined) return 'PostgreSQL does not know it';
  if (kind.context === 'internal') return 'it cannot be set';
  switch (kind.vartype) {
    case 'bool':
      return BOOLEAN.test(value) ? undefined : `${value} is not a boolean`;
    case 'enum':
      return isOneOf(value, kind.enumvals ?? []) ? undefined : `${value} is not one of its values`;
    case 'integer':
    case 'real':
      return NUMBER.test(value) ? undefined : `${value} is not a number`;
    case 'string':
      return undefined;
  }
}

/** Enum parameters take words for true and false that pg_settings does not list. */
function isOneOf(value: string, allowed: readonly string[]): boolean {
  return BOOLEAN.test(value) || allowed.some((one) => one.toLowerCase() === value.toLowerCase());
}

export function usable(parameters: Parameters, catalog: Catalog | undefined): Parameters {
  if (catalog === undefined) return parameters;
  return Object.fromEntries(
    Object.entries(parameters).filter(([name, value]) => whyUnusable(name, value, catalog) === undefined),
  );
}
