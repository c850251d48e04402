// What a startup packet says of its sender and of where it wants to go. Pure.
import type { Login } from '../core/events.ts';
import { startupParameters } from '../wire/startup.ts';
import { readTarget } from '../wire/target.ts';

export interface Said {
  /** Who it is. */
  readonly login: Login;
  /** The name of the pool that it asks for, if it names one. */
  readonly target: string | undefined;
}

export const SAID_NOTHING: Said = { login: {}, target: undefined };

export function readSaid(packet: Uint8Array): Said {
  const user = startupParameters(packet).get('user');
  const { database = user, target } = readTarget(packet);
  const login = { ...(user === undefined ? {} : { user }), ...(database === undefined ? {} : { database }) };
  return { login, target: target?.name };
}
