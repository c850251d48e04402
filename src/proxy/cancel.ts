// Passes a CancelRequest on, once: to the server whose session has that key, or, where no session that can be read has it (TLS, or
// another proxy's), to the members of the listener's pool, because PostgreSQL ignores a key it does not have. The latter is
// rationed: guesses must not cost the members. One deadline bounds all of it, whoever never closes.
import type { Socket } from 'node:net';
import type { Clock } from '../core/instant.ts';
import { addressText, isSameAddress } from '../core/member.ts';
import type { Address } from '../core/member.ts';
import type { PoolName } from '../core/policy.ts';
import type { Target } from '../core/routing-table.ts';
import { requestedKey } from '../wire/cancel-key.ts';
import { openRoute } from './approach.ts';
import { CancelKeys } from './cancel-keys.ts';
import type { Dial } from './dial.ts';
import type { ProxySeams } from './options.ts';
import type { Registry } from './registry.ts';
import { TokenBucket } from './token-bucket.ts';

/** From the request to the end of everything it opened. */
const CANCEL_MS = 5_000;
/** A cancel with an unknown key costs each of these a connection. */
const MOST_CANCEL_TARGETS = 8;
/** With unknown keys, at one listener; as many may come at once. */
const UNKNOWN_PER_SECOND = 20;

export interface CancelsInputs {
  readonly seams: ProxySeams;
  readonly registry: Registry;
  readonly dial: Dial;
}

/** Who asks, and with what. */
export interface Cancelling {
  /** The whole request, as the client sent it. */
  readonly packet: Uint8Array;
  readonly pool: PoolName;
  readonly listener: Address;
  /** Called once. `detail`: why it was passed on to nobody. */
  readonly onDone: (detail?: string) => void;
}

const nothing = (): void => {};

export class Cancels {
  readonly keys = new CancelKeys();
  readonly #inputs: CancelsInputs;
  /** By listener. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(inputs: CancelsInputs) {
    this.#inputs = inputs;
  }

  /** Returns the end without courtesy, after which nothing is reported. */
  passOn({ packet, pool, listener, onDone }: Cancelling): () => void {
    const { seams, dial } = this.#inputs;
    const { clock } = seams;
    const own = this.#targetOf(packet);
    const places = own === undefined ? this.#placesOf(pool) : [own];
    let problem: string | undefined;
    if (places.length === 0) problem = 'nobody to pass it on to in this pool';
    else if (own === undefined && !this.#mayGuess(listener)) problem = 'dropped: too many with unknown keys';
    if (problem !== undefined) {
      onDone(problem);
      return nothing;
    }
    const key = own === undefined ? 'unknown' : 'known';
    seams.onEvent({ kind: 'cancel-forwarded', pool, key, members: places.map(({ member }) => member) });
    return forward({ packet, addresses: places.map(({ address }) => address), dial, clock, onDone });
  }

  #targetOf(packet: Uint8Array): Target | undefined {
    const key = requestedKey(packet);
    return key === undefined ? undefined : this.keys.find(key);
  }

  /** Where its sessions live, then where new ones would go: another proxy's live there. */
  #placesOf(pool: PoolName): readonly Target[] {
    const { seams, registry } = this.#inputs;
    const places: Target[] = [...registry.placesOf(pool)];
    for (const target of openRoute(seams, pool)?.targets ?? []) {
      if (!places.some(({ address }) => isSameAddress(address, target.address))) places.push(target);
    }
    return places.slice(0, MOST_CANCEL_TARGETS);
  }

  #mayGuess(listener: Address): boolean {
    const now = this.#inputs.seams.clock.now();
    const name = addressText(listener);
    const bucket = this.#buckets.get(name) ?? new TokenBucket(UNKNOWN_PER_SECOND, now, UNKNOWN_PER_SECOND);
    this.#buckets.set(name, bucket);
    return bucket.take(now) === 0;
  }
}

interface ForwardInputs {
  readonly packet: Uint8Array;
  readonly addresses: readonly Address[];
  readonly dial: Dial;
  readonly clock: Clock;
  readonly onDone: () => void;
}

function forward({ packet, addresses, dial, clock, onDone }: ForwardInputs): () => void {
  const sockets = new Set<Socket>();
  const aborts: (() => void)[] = [];
  let pending = addresses.length;
  let isStopped = false;
  const stop = (): void => {
    if (isStopped) return;
    isStopped = true;
    cancelDeadline();
    for (const abort of aborts) abort();
    for (const socket of sockets) socket.destroy();
  };
  const finish = (): void => {
    if (isStopped) return;
    stop();
    onDone();
  };
  const oneDone = (): void => {
    pending -= 1;
    if (pending === 0) finish();
  };
  const cancelDeadline = clock.schedule(CANCEL_MS, finish);
  for (const address of addresses) {
    const abort = dial(address, { clock, timeoutMs: CANCEL_MS }, (result) => {
      if (result.kind === 'failed') return oneDone();
      const { socket } = result;
      sockets.add(socket);
      // PostgreSQL answers nothing: it acts on the request and closes.
      socket.on('end', () => socket.end()).on('close', oneDone);
      socket.write(packet);
      socket.resume();
    });
    aborts.push(abort);
  }
  return stop;
}
