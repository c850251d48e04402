// What a startup packet says of its sender and of where it wants to go. Pure.
import type { Login } from '../../reports/events.ts';
import { startupParameters } from '../../wire/startup.ts';
import { readTarget } from '../../wire/target.ts';
import type { Target } from '../../wire/target.ts';
import { clientText } from './client-text.ts';

export interface StartupParameters {
  /** Fit to be shown: cut and escaped. */
  readonly login: Login;
  /** The pool that it asks for, as it was sent, if it names one. */
  readonly target: Target | undefined;
  /** The packet as it is to be forwarded. */
  readonly forwarded: Uint8Array;
}

export function readStartupParameters(packet: Uint8Array): StartupParameters {
  const asked = readTarget(packet);
  // Where the layout is broken, as far as it can be read.
  const { user = startupParameters(packet).get('user'), target, forwarded } = asked;
  const { database = user } = asked;
  const login = {
    ...(user === undefined ? {} : { user: clientText(user) }),
    ...(database === undefined ? {} : { database: clientText(database) }),
  };
  return { login, target, forwarded };
}
