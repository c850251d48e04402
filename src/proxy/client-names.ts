// The names that clients give in their startup packets. Most sessions of an application give the same ones, so equal
// names are one object in memory.
import type { Login } from '../reports/events.ts';

/** Cut and escaped, to be shown. */
export interface ClientNames {
  readonly login: Login;
  readonly application: string | undefined;
}

/** Cannot be part of a name: PostgreSQL ends names with it. */
const SEPARATOR = '\0';

export const NO_NAMES: ClientNames = { login: {}, application: undefined };

/** The key of equal names. */
export function nameKey({ login, application }: ClientNames): string {
  return [login.user, login.database, application].map((name) => name ?? SEPARATOR).join(SEPARATOR);
}
