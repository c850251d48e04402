// A session that has its backend: the relay between the two sockets, what can be read of it, and the ways to end it. Where the
// stream can be read a follower is shown every byte behind the startup packet: the client's before they are sent on.
import type { Socket } from 'node:net';
import type { Clock } from '../core/instant.ts';
import type { CancelKey } from '../wire/cancel-key.ts';
import { SessionFollower } from '../wire/session-follower.ts';
import type { Greeted } from './greeting.ts';
import type { HandedOver } from './opening.ts';
import { Relay } from './relay.ts';
import type { RelayEnding, Taps, Traffic } from './relay.ts';
import { resetSocket } from './socket.ts';

export interface ServedInputs {
  readonly client: Socket;
  readonly backend: Socket;
  readonly handedOver: HandedOver;
  readonly greeted: Greeted | undefined;
  readonly traffic: Traffic;
  readonly poolTraffic: Traffic;
  readonly clock: Clock;
  /** The key that cancels it; returns what forgets the key again. */
  readonly onKey: (key: CancelKey) => () => void;
  readonly onEnded: (ending: RelayEnding) => void;
}

export class Served {
  readonly #inputs: ServedInputs;
  readonly #relay: Relay;
  #forgetKey: (() => void) | undefined;

  constructor(inputs: ServedInputs) {
    const { packet, bytes, hasEnded, isReadable } = inputs.handedOver;
    this.#inputs = inputs;
    this.#relay = new Relay({
      ...inputs,
      packet,
      opening: bytes,
      hasClientEnded: hasEnded,
      taps: isReadable ? this.#follow(new SessionFollower()) : undefined,
    });
  }

  /** Call once. */
  start(): void {
    this.#relay.start();
  }

  /** Ends both connections in this step. `isReset`: what the backend was not sent yet it is not sent any more. */
  cut(isReset: boolean): void {
    const { client, backend } = this.#inputs;
    this.#relay.stop();
    this.#forgetKey?.();
    if (isReset) resetSocket(backend);
    else backend.destroy();
    client.destroy();
  }

  #follow(follower: SessionFollower): Taps {
    return {
      toBackend: (chunk) => follower.fromClient(chunk),
      toClient: (chunk, send) => {
        follower.fromBackend(chunk);
        this.#look(follower);
        send(chunk);
      },
    };
  }

  #look(follower: SessionFollower): void {
    const key = this.#forgetKey === undefined ? follower.cancelKey() : undefined;
    if (key !== undefined) this.#forgetKey = this.#inputs.onKey(key);
  }
}
