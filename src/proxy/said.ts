// What a startup packet says of its sender and of where it wants to go. Pure.
import type { Login } from '../core/events.ts';
import { startupParameters } from '../wire/startup.ts';
import { readTarget } from '../wire/target.ts';

export interface Said {
  /** Who it is. */
  readonly login: Login;
  /** The name of the pool that it asks for, if it names one. */
  readonly target: string | undefined;
  /** The packet as it is to be forwarded. */
  readonly forwarded: Uint8Array;
}

export function readSaid(packet: Uint8Array): Said {
  const asked = readTarget(packet);
  // Where the layout is broken, as far as it can be read.
  const { user = startupParameters(packet).get('user'), target, forwarded } = asked;
  const { database = user } = asked;
  const login = { ...(user === undefined ? {} : { user }), ...(database === undefined ? {} : { database }) };
  return { login, target: target?.name, forwarded };
}
