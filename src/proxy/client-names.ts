// The names that a client gives in its startup packet.
import type { Login } from '../reports/events.ts';

/** Cut and escaped, to be shown. */
export interface ClientNames {
  readonly login: Login;
  readonly application: string | undefined;
}

export const NO_NAMES: ClientNames = { login: {}, application: undefined };
