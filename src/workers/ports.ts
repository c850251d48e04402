// The addresses that the workers share: which they are, and whether new ones are free before anybody joins them. Port 0 becomes one port
// for all of them.
import type { Clock } from '../model/instant.ts';
import type { Address } from '../model/member.ts';
import type { ListenerPolicy } from '../model/policy.ts';
import { matchListeners } from '../proxy/accept/listeners.ts';
import type { BoundListener, ListenerChanges } from '../proxy/accept/listeners.ts';
import { findFreePorts } from '../proxy/accept/free-ports.ts';
import type { FreePorts } from '../proxy/accept/free-ports.ts';

export type Claim =
  | {
      readonly kind: 'claimed';
      /** The wanted ones, with the real port where 0 was asked for. */
      readonly listeners: readonly ListenerPolicy[];
      readonly apply: () => ListenerChanges;
    }
  | { readonly kind: 'failed'; readonly message: string };

interface Port {
  readonly policy: ListenerPolicy;
  readonly address: Address;
}

/** Workers of one that was killed end a moment after it: what cannot be had at the start is asked for again. Milliseconds. */
const AGAIN_MS = 100;
const TIMES = 10;

export class Ports {
  readonly #clock: Clock;
  #ports: readonly Port[] = [];
  #isFirst = true;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Nothing is bound by it, and nothing changes before `apply`. */
  async claim(wanted: readonly ListenerPolicy[]): Promise<Claim> {
    const kept = matchListeners(this.#ports, wanted);
    const added = wanted.filter((policy) => !kept.has(policy) && !isMeantToBeShared(policy));
    const vacancy = await this.#vacancy(added);
    if (vacancy.kind === 'failed') return { kind: 'failed', message: vacancy.message };
    const found = new Map(added.map((policy, index) => [policy, vacancy.listeners[index]?.address]));
    const ports = wanted.map((policy) => {
      const address = kept.get(policy)?.address ?? found.get(policy) ?? policy.address;
      return { policy, address };
    });
    return { kind: 'claimed', listeners: ports.map(bound), apply: () => this.#apply(ports, new Set(kept.values())) };
  }

  bound(): readonly BoundListener[] {
    return this.#ports.map(bound);
  }

  async #vacancy(wanted: readonly ListenerPolicy[]): Promise<FreePorts> {
    const own = this.bound();
    let vacancy = await findFreePorts(wanted, own);
    for (let time = 1; this.#isFirst && time < TIMES && vacancy.kind === 'failed'; time += 1) {
      await new Promise<void>((resolve) => void this.#clock.schedule(AGAIN_MS, resolve));
      vacancy = await findFreePorts(wanted, own);
    }
    this.#isFirst = false;
    return vacancy;
  }

  #apply(ports: readonly Port[], stays: ReadonlySet<Port>): ListenerChanges {
    const keptAddresses = new Set([...stays].map(({ address }) => address));
    const removed = this.#ports.filter((port) => !stays.has(port)).map(bound);
    const added = ports.filter(({ address }) => !keptAddresses.has(address)).map(bound);
    this.#ports = ports;
    return { added, removed };
  }
}

/** With another program of the operator's, too: a trial would take in clients of that one, and turn them away. */
function isMeantToBeShared({ address, reusePort = false }: ListenerPolicy): boolean {
  return reusePort && address.port !== 0;
}

function bound({ policy, address }: Port): BoundListener {
  return { pool: policy.pool, address };
}
