// The addresses that the workers share. Checks that new ones are free before a worker binds them. Port 0 becomes one
// port for all workers.
import type { Address } from '../model/member.ts';
import type { ListenerPolicy } from '../model/policy.ts';
import type { ProxyDependencies } from '../proxy/options.ts';
import { matchListeners, type BoundListener, type ListenerChanges } from '../proxy/accept/listeners.ts';
import { findFreePorts, type FreePorts } from '../proxy/accept/free-ports.ts';

export type PortClaim =
  | {
      readonly kind: 'claimed';
      /** As wanted, with a real port in place of 0. */
      readonly listeners: readonly ListenerPolicy[];
      readonly apply: () => ListenerChanges;
    }
  | { readonly kind: 'failed'; readonly message: string };

interface Port {
  readonly policy: ListenerPolicy;
  readonly address: Address;
}

/**
 * The workers of a killed main process end a moment after it, so a busy port at the start is tried again. Milliseconds.
 */
const RETRY_MS = 100;
const MAX_TRIES = 10;
/**
 * For port 0: below the ports that the kernel gives out (32768 and higher on an untuned Linux). One of those could
 * belong to another program before the workers bind it.
 */
const PICKED = { from: 20_000, to: 32_768 };
/** Behind so many picked ports that are taken, the kernel picks. */
const MOST_PICKS = 5;

export type PortsOptions = Pick<ProxyDependencies, 'clock' | 'createServer' | 'random'>;

export class Ports {
  readonly #options: PortsOptions;
  #ports: readonly Port[] = [];
  #isFirst = true;

  constructor(options: PortsOptions) {
    this.#options = options;
  }

  /** Binds nothing. Nothing changes before `apply`. */
  async claim(wanted: readonly ListenerPolicy[]): Promise<PortClaim> {
    const kept = matchListeners(this.#ports, wanted);
    const added = wanted.filter((policy) => !kept.has(policy) && !isShared(policy));
    const free = await this.#findFree(added);
    if (free.kind === 'failed') return { kind: 'failed', message: free.message };
    const found = new Map(added.map((policy, index) => [policy, free.listeners[index]?.address]));
    const ports = wanted.map((policy) => {
      const address = kept.get(policy)?.address ?? found.get(policy) ?? policy.address;
      return { policy, address };
    });
    return { kind: 'claimed', listeners: ports.map(bound), apply: () => this.#apply(ports, new Set(kept.values())) };
  }

  bound(): readonly BoundListener[] {
    return this.#ports.map(bound);
  }

  async #findFree(wanted: readonly ListenerPolicy[]): Promise<FreePorts> {
    let found = await this.#tryOnce(wanted);
    for (let time = 1; this.#isFirst && time < MAX_TRIES && found.kind === 'failed'; time += 1) {
      await new Promise<void>((resolve) => void this.#options.clock.schedule(RETRY_MS, resolve));
      found = await this.#tryOnce(wanted);
    }
    this.#isFirst = false;
    return found;
  }

  async #tryOnce(wanted: readonly ListenerPolicy[]): Promise<FreePorts> {
    const own = this.bound();
    const { createServer, random } = this.#options;
    for (let picks = 0; picks < MOST_PICKS && wanted.some(isAny); picks += 1) {
      const found = await findFreePorts(
        wanted.map((policy) => withPort(policy, random)),
        own,
        createServer,
      );
      if (found.kind === 'free') return found;
    }
    return await findFreePorts(wanted, own, createServer);
  }

  #apply(ports: readonly Port[], stays: ReadonlySet<Port>): ListenerChanges {
    const keptAddresses = new Set([...stays].map(({ address }) => address));
    const removed = this.#ports.filter((port) => !stays.has(port)).map(bound);
    const added = ports.filter(({ address }) => !keptAddresses.has(address)).map(bound);
    this.#ports = ports;
    return { added, removed };
  }
}

/**
 * Another program may listen there too (reuse_port). A trial bind would accept that program's clients and drop them.
 */
function isShared({ address, reusePort = false }: ListenerPolicy): boolean {
  return reusePort && address.port !== 0;
}

function isAny({ address }: ListenerPolicy): boolean {
  return address.port === 0;
}

function withPort(policy: ListenerPolicy, random: () => number): ListenerPolicy {
  if (!isAny(policy)) return policy;
  const port = PICKED.from + Math.floor(random() * (PICKED.to - PICKED.from));
  return { ...policy, address: { ...policy.address, port } };
}

function bound({ policy, address }: Port): BoundListener {
  return { pool: policy.pool, address };
}
