// Shared by the programs for Node: see README.md.
import { readFileSync } from 'node:fs';

export const WRITE =
  "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port() as server";
export const LARGE = "select n, repeat('x', 100) from generate_series(1, 50000) n";
export const RECOVERY = 'select pg_is_in_recovery()::text';
export const POOL = '-c pointsman.pool=ro';

export function tell(...parts: readonly string[]): void {
  process.stdout.write(`${parts.map((part) => part.trim().replaceAll('\n', ' | ')).join('\t')}\n`);
}

/** For node-postgres and postgres.js. */
export function encryption(): false | { readonly ca: string } | { readonly rejectUnauthorized: false } {
  const { PGSSLMODE: mode, PGSSLROOTCERT: file } = process.env;
  if (mode === 'disable') return false;
  return mode === 'verify-full' && file !== undefined
    ? { ca: readFileSync(file, 'utf8') }
    : { rejectUnauthorized: false };
}

/** The message with DETAIL and HINT, if the server sent them. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const more = ['detail', 'hint'].map((field): unknown => Reflect.get(error, field));
  return [error.message, ...more].filter((part) => typeof part === 'string').join('\n');
}

export async function runCases(cases: Readonly<Record<string, () => Promise<string>>>): Promise<void> {
  for (const name of process.argv.slice(3)) {
    try {
      tell(name, 'ok', (await cases[name]?.()) ?? 'unknown');
    } catch (error) {
      const state = error instanceof Error && 'code' in error ? String(error.code) : '';
      tell(name, 'error', state, textOf(error));
    }
  }
  process.exit(0);
}

export function endWithInput(): void {
  process.stdin.once('end', () => process.exit(0)).resume();
}
