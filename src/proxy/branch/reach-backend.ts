// One attempt to reach the backend of a branch: a connection, and the first reply to the client's startup packet, with
// one deadline for both. A backend that refuses for now (57P03) or closes without a word has not taken the client in.
// Reports once, and nothing after the abort.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import type { BranchDialOutcome } from '../../reports/events.ts';
import type { DialResult } from '../connect/dial.ts';
import type { DialServer } from '../connect/dial-server.ts';
import { awaitFirstReply } from '../connect/first-reply.ts';
import type { FirstReply } from '../connect/first-reply.ts';
import type { BranchServer } from '../server.ts';
import type { FirstRequest } from '../startup/client-startup.ts';

export interface ReachInputs {
  readonly server: BranchServer;
  readonly dial: DialServer;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The startup packet. Undefined: its reply cannot be awaited, because the client has sent more. */
  readonly request: FirstRequest | undefined;
  /** The backend is the caller's, paused. */
  readonly onReached: (backend: Socket, reply: FirstReply | undefined) => void;
  /** `detail`: for a message, without an address. */
  readonly onFailed: (outcome: Exclude<BranchDialOutcome, 'connected'>, detail: string) => void;
}

const nothing = (): void => {};

/** Returns the abort, which closes the connection; it is idempotent. */
export function reachBackend(inputs: ReachInputs): () => void {
  const { server, dial, clock, timeoutMs, request, onReached, onFailed } = inputs;
  const startedAt = clock.now();
  let abort = nothing;
  const dialled = (result: DialResult): void => {
    if (result.kind === 'failed') return onFailed(outcomeOf(result), result.detail);
    const { socket } = result;
    if (request === undefined) return onReached(socket, undefined);
    abort = awaitFirstReply({
      backend: socket,
      request,
      clock,
      limitMs: Math.max(0, startedAt + timeoutMs - clock.now()),
      onReply: (reply) => onReached(socket, reply),
      onSilent: () => onFailed('timeout', `no reply within ${timeoutMs} ms`),
      // A startup packet is never declined.
      onDeclined: () => socket.destroy(),
      onTurnedAway: (isForNow) =>
        isForNow
          ? onFailed('starting', 'the server is starting or stopping (57P03)')
          : onFailed('failed', 'connection closed without a reply'),
    });
    return undefined;
  };
  const abortDial = dial(server, { clock, timeoutMs }, dialled);
  return () => {
    abortDial();
    abort();
  };
}

function outcomeOf({ outcome, isUnresolvable }: Extract<DialResult, { kind: 'failed' }>) {
  return isUnresolvable === true ? 'unresolvable' : outcome;
}
