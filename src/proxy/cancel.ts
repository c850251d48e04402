// Passes a CancelRequest on, once: to the server whose session has that key, or, where no session that can be read has it (TLS, or
// another proxy's), to the members of the listener's pool, because PostgreSQL ignores a key it does not have. The latter is
// rationed: guesses must not cost the members; where other processes serve the same ports they are asked before. One deadline bounds all of it, whoever never closes.
import type { Socket } from 'node:net';
import type { CancelKeyKnowledge } from '../core/events.ts';
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
import { NO_PEERS } from './peers.ts';
import type { Peers } from './peers.ts';
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
  passOn(cancelling: Cancelling): () => void {
    const { peers } = this.#inputs.seams;
    const own = this.#targetOf(cancelling.packet);
    if (own !== undefined) return this.#send(cancelling, [own], 'known');
    return peers === undefined ? this.#guess(cancelling) : this.#askFirst(cancelling, peers);
  }

  /** For another process that does not know its key. False, and nothing is done: nor is it known here. */
  passOnIfKnown(packet: Uint8Array, pool: PoolName): boolean {
    const own = this.#targetOf(packet);
    if (own === undefined) return false;
    this.#send({ packet, pool, onDone: nothing }, [own], 'known');
    return true;
  }

  #askFirst(cancelling: Cancelling, peers: Peers): () => void {
    let isStopped = false;
    let stop = nothing;
    const answered = (isTaken: boolean): void => {
      if (isStopped) return;
      if (isTaken) cancelling.onDone();
      else stop = this.#guess(cancelling);
    };
    void peers.passOnCancel(cancelling.packet, cancelling.pool).then(answered);
    return () => {
      isStopped = true;
      stop();
    };
  }

  #guess(cancelling: Cancelling): () => void {
    const { pool, listener, onDone } = cancelling;
    const places = this.#placesOf(pool);
    let problem: string | undefined;
    if (places.length === 0) problem = 'nobody to pass it on to in this pool';
    else if (!this.#mayGuess(listener)) problem = 'dropped: too many with unknown keys';
    if (problem === undefined) return this.#send(cancelling, places, 'unknown');
    onDone(problem);
    return nothing;
  }

  #send(
    { packet, pool, onDone }: Omit<Cancelling, 'listener'>,
    places: readonly Target[],
    key: CancelKeyKnowledge,
  ): () => void {
    const { seams, dial } = this.#inputs;
    seams.onEvent({ kind: 'cancel-forwarded', pool, key, members: places.map(({ member }) => member) });
    return forward({ packet, addresses: places.map(({ address }) => address), dial, clock: seams.clock, onDone });
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
    const { clock, peers = NO_PEERS } = this.#inputs.seams;
    const now = clock.now();
    const name = addressText(listener);
    const perSecond = UNKNOWN_PER_SECOND / peers.processes;
    const bucket = this.#buckets.get(name) ?? new TokenBucket(perSecond, now, perSecond);
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
