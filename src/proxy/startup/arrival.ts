// What a client needs until it has its backend, and nobody after that: what it says, the dials made for it, a spare.
import type { Socket } from 'node:net';
import type { Address } from '../../model/member.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import { Attempts } from '../connect/connect-attempts.ts';
import { Opening } from './client-startup.ts';
import type { OpeningHost } from './client-startup.ts';
import type { Spare } from '../connect/parked-backends.ts';
import type { Surroundings } from '../surroundings.ts';

export interface Accepted {
  readonly policy: PoolPolicy;
  readonly listener: Address;
  readonly client: Socket;
}

export interface Arrival {
  readonly opening: Opening;
  readonly attempts: Attempts;
  /** Only while the client is about to say what it wants in plain text, and on the way from there to the relay. */
  spare: Spare | undefined;
}

export function arrive(client: Socket, host: OpeningHost, { seams, policy, identity, kept }: Surroundings): Arrival {
  const { client: bounds, backend } = policy();
  const opening = new Opening(client, {
    clock: seams.clock,
    timeoutMs: bounds.startupTimeoutMs,
    tls: identity.own(),
    kept,
    host,
  });
  return { opening, attempts: new Attempts(backend.attempts), spare: undefined };
}
