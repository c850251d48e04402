// Passes a CancelRequest on, once: to the server whose session has that key, or, where no session that can be read has
// it (TLS, or another proxy's), to the members of the listener's pool, because PostgreSQL ignores a key it does not
// have. The latter is rationed: guesses must not cost the members. Where other processes serve the same ports they are
// asked before. A request is done when its server has closed, or when it could not be reached. One deadline bounds all
// of it, also when a server never closes.
import type { Socket } from 'node:net';
import type { CancelKeyKnowledge } from '../../reports/events.ts';
import type { Clock } from '../../model/instant.ts';
import { addressText, isSameAddress } from '../../model/member.ts';
import type { Address, MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import { openRoute } from '../../core/routing-table.ts';
import type { Target } from '../../core/routing-table.ts';
import { requestedKey } from '../../wire/cancel-key.ts';
import { CancelKeys } from './cancel-keys.ts';
import type { Dial } from '../connect/dial.ts';
import { GuessLimit } from './guess-limit.ts';
import type { ProxyDependencies } from '../options.ts';
import { NO_PEERS } from '../peers.ts';
import type { CancelOutcome, Peers } from '../peers.ts';
import type { SessionRegistry } from '../session-registry.ts';

/** From the request to the end of everything it opened. */
const CANCEL_MS = 5_000;
/** A cancel with an unknown key costs each of these a connection. */
const MOST_CANCEL_TARGETS = 8;
/** With unknown keys, at one listener; see GuessLimit. */
const UNKNOWN_PER_SECOND = 20;

export interface CancelsInputs {
  readonly seams: ProxyDependencies;
  readonly registry: SessionRegistry;
  readonly dial: Dial;
}

/** Who asks, and with what. */
export interface Cancelling {
  /** The whole request, as the client sent it. */
  readonly packet: Uint8Array;
  readonly pool: PoolName;
  readonly listener: Address;
  /** Of the client, without its port. */
  readonly address: string;
  /** Called once, when it is over. `problem`: why it reached nobody. */
  readonly onDone: (problem?: string) => void;
}

const nothing = (): void => {};

export class Cancels {
  readonly keys = new CancelKeys();
  readonly #inputs: CancelsInputs;
  /** By listener. */
  readonly #guessLimits = new Map<string, GuessLimit>();

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

  isKnown(packet: Uint8Array): boolean {
    return this.#targetOf(packet) !== undefined;
  }

  /** For another process that was told that the key is known here. */
  passOnKnown(packet: Uint8Array, pool: PoolName, onDone: Cancelling['onDone']): void {
    const own = this.#targetOf(packet);
    if (own === undefined) onDone('its session has ended');
    else this.#send({ packet, pool, onDone }, [own], 'known');
  }

  #askFirst(cancelling: Cancelling, peers: Peers): () => void {
    let isStopped = false;
    let stop = nothing;
    const answered = (outcome: CancelOutcome): void => {
      if (isStopped) return;
      if (outcome.kind === 'done') cancelling.onDone(outcome.problem);
      else stop = this.#guess(cancelling);
    };
    void peers.passOnCancel(cancelling.packet, cancelling.pool).then(answered);
    return () => {
      isStopped = true;
      stop();
    };
  }

  #guess(cancelling: Cancelling): () => void {
    const { pool, onDone } = cancelling;
    this.#inputs.seams.decideIfDue();
    const places = this.#placesOf(pool);
    let problem: string | undefined;
    if (places.length === 0) problem = 'nobody to pass it on to in this pool';
    else if (!this.#mayGuess(cancelling)) problem = 'dropped: too many with unknown keys';
    if (problem === undefined) return this.#send(cancelling, places, 'unknown');
    onDone(problem);
    return nothing;
  }

  #send(
    { packet, pool, onDone }: Pick<Cancelling, 'packet' | 'pool' | 'onDone'>,
    targets: readonly Target[],
    key: CancelKeyKnowledge,
  ): () => void {
    const { seams, dial } = this.#inputs;
    const onSent = (members: readonly MemberName[]): void =>
      seams.onEvent({ kind: 'cancel_forwarded', pool, key, members });
    return forward({ packet, targets, dial, clock: seams.clock, onSent, onDone });
  }

  #targetOf(packet: Uint8Array): Target | undefined {
    const key = requestedKey(packet);
    return key === undefined ? undefined : this.keys.find(key);
  }

  /** Where its sessions live, then where new ones would go: another proxy's live there. */
  #placesOf(pool: PoolName): readonly Target[] {
    const { seams, registry } = this.#inputs;
    const places: Target[] = [...registry.assignmentsOf(pool)];
    for (const target of openRoute(seams.table(), pool)?.targets ?? []) {
      if (!places.some(({ address }) => isSameAddress(address, target.address))) places.push(target);
    }
    return places.slice(0, MOST_CANCEL_TARGETS);
  }

  #mayGuess({ listener, address }: Cancelling): boolean {
    const { clock, peers = NO_PEERS } = this.#inputs.seams;
    const now = clock.now();
    const name = addressText(listener);
    const limit = this.#guessLimits.get(name) ?? new GuessLimit(UNKNOWN_PER_SECOND / peers.processes, now);
    this.#guessLimits.set(name, limit);
    return limit.take(address, now);
  }
}

interface ForwardInputs {
  readonly packet: Uint8Array;
  readonly targets: readonly Target[];
  readonly dial: Dial;
  readonly clock: Clock;
  /** At most once: when each was reached or not. */
  readonly onSent: (reached: readonly MemberName[]) => void;
  readonly onDone: (problem?: string) => void;
}

function forward({ packet, targets, dial, clock, onSent, onDone }: ForwardInputs): () => void {
  const sockets = new Set<Socket>();
  const aborts: (() => void)[] = [];
  const reached: MemberName[] = [];
  let problem = `nobody could be reached within ${CANCEL_MS / 1000} s`;
  let dialing = targets.length;
  let pending = targets.length;
  let isStopped = false;
  let isTold = false;
  const tell = (): void => {
    if (isTold || reached.length === 0) return;
    isTold = true;
    onSent(reached);
  };
  const stop = (): void => {
    if (isStopped) return;
    isStopped = true;
    cancelDeadline();
    for (const abort of aborts) abort();
    for (const socket of sockets) socket.destroy();
  };
  const finish = (): void => {
    if (isStopped) return;
    tell();
    stop();
    if (reached.length > 0) onDone();
    else onDone(problem);
  };
  const oneDone = (): void => {
    pending -= 1;
    if (pending === 0) finish();
  };
  const cancelDeadline = clock.schedule(CANCEL_MS, finish);
  for (const { member, address } of targets) {
    const abort = dial(address, { clock, timeoutMs: CANCEL_MS }, (result) => {
      dialing -= 1;
      if (result.kind === 'failed') {
        problem = `${member}: ${result.detail}`;
        if (dialing === 0) tell();
        return oneDone();
      }
      const { socket } = result;
      sockets.add(socket);
      reached.push(member);
      // PostgreSQL answers nothing: it acts on the request and closes.
      socket.on('end', () => socket.end()).on('close', oneDone);
      socket.write(packet);
      socket.resume();
      if (dialing === 0) tell();
      return undefined;
    });
    aborts.push(abort);
  }
  return stop;
}
