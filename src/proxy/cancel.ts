// Passes a CancelRequest on, once, to each place where its pool has sessions: whose key it is, is not known here yet, and
// PostgreSQL ignores a key it does not have. Reports once; one deadline bounds all of it, whoever never closes.
import type { Socket } from 'node:net';
import type { Clock } from '../core/instant.ts';
import type { Address } from '../core/member.ts';
import type { PoolName } from '../core/policy.ts';
import type { Dial } from './dial.ts';
import type { Surroundings } from './surroundings.ts';

/** From the request to the end of everything it opened. */
const CANCEL_MS = 5_000;
/** A cancel costs each of these a connection. */
const MOST_CANCEL_TARGETS = 8;

/** Returns the end without courtesy, after which nothing is reported. */
export function passCancelOn(
  packet: Uint8Array,
  pool: PoolName,
  { registry, seams, dial }: Surroundings,
  onDone: (detail?: string) => void,
): () => void {
  const places = registry.placesOf(pool).slice(0, MOST_CANCEL_TARGETS);
  seams.onEvent({ kind: 'cancel-forwarded', pool, members: places.map(({ member }) => member) });
  if (places.length === 0) {
    onDone('no session to cancel in this pool');
    return () => {};
  }
  return forwardCancel({ packet, addresses: places.map(({ address }) => address), dial, clock: seams.clock, onDone });
}

interface CancelInputs {
  /** The whole request, as the client sent it. */
  readonly packet: Uint8Array;
  readonly addresses: readonly Address[];
  readonly dial: Dial;
  readonly clock: Clock;
  readonly onDone: () => void;
}

function forwardCancel({ packet, addresses, dial, clock, onDone }: CancelInputs): () => void {
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
