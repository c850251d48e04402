// The parameters that this PostgreSQL knows (pg_settings). A value that would keep it from starting is left out.
// Patroni does the same: such a value stays in the dynamic configuration and is not applied.
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { Parameters } from '../postgres/server-types.ts';

export interface ParameterKind {
  readonly vartype: 'bool' | 'enum' | 'integer' | 'real' | 'string';
  readonly enumvals: readonly string[] | null;
  /** `internal` parameters cannot be set. */
  readonly context: string;
}

export type Catalog = ReadonlyMap<string, ParameterKind>;

/** Undefined when the server does not answer. */
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
/** PostgreSQL, "Setting Parameters": a number, also in hex or octal, and a unit. */
const NUMBER =
  /^\s*[+-]?(0x[0-9a-f]+|\d+(\.\d*)?(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)\s*(B|kB|MB|GB|TB|us|ms|s|min|h|d)?\s*$/i;

/** Whether PostgreSQL accepts the value. Ranges are left to PostgreSQL. */
export function isUsable(name: string, value: string, catalog: Catalog): boolean {
  // A parameter of an extension: PostgreSQL keeps unknown names that contain a dot.
  if (name.includes('.')) return true;
  const kind = catalog.get(name);
  if (kind === undefined || kind.context === 'internal') return false;
  switch (kind.vartype) {
    case 'bool':
      return BOOLEAN.test(value);
    case 'enum':
      return isOneOf(value, kind.enumvals ?? []);
    case 'integer':
    case 'real':
      return NUMBER.test(value);
    case 'string':
      return true;
  }
}

/** Enum parameters accept words for true and false that pg_settings does not list. */
function isOneOf(value: string, allowed: readonly string[]): boolean {
  return BOOLEAN.test(value) || allowed.some((one) => one.toLowerCase() === value.toLowerCase());
}

export function usable(parameters: Parameters, catalog: Catalog | undefined): Parameters {
  if (catalog === undefined) return parameters;
  return Object.fromEntries(Object.entries(parameters).filter(([name, value]) => isUsable(name, value, catalog)));
}
