// What a client needs until it has its backend, and nobody after that: what it says, the dials made for it, a parked backend.
import type { Socket } from 'node:net';
import type { Address } from '../../model/member.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import { ConnectAttempts } from '../connect/connect-attempts.ts';
import { ClientStartup } from './client-startup.ts';
import type { StartupHandler } from './client-startup.ts';
import type { ParkedBackend } from '../connect/parked-backends.ts';
import type { Surroundings } from '../surroundings.ts';

export interface Accepted {
  readonly policy: PoolPolicy;
  readonly listener: Address;
  readonly client: Socket;
}

export interface Arrival {
  readonly startup: ClientStartup;
  readonly attempts: ConnectAttempts;
  /** Only while the client is about to say what it wants in plain text, and on the way from there to the relay. */
  parked: ParkedBackend | undefined;
}

export function arrive(
  client: Socket,
  handler: StartupHandler,
  { seams, policy, identity, kept }: Surroundings,
): Arrival {
  const { client: bounds, backend } = policy();
  const startup = new ClientStartup(client, {
    clock: seams.clock,
    timeoutMs: bounds.startupTimeoutMs,
    tls: identity.own(),
    kept,
    handler,
  });
  return { startup, attempts: new ConnectAttempts(backend.connectAttempts), parked: undefined };
}
