// One attempt to reach the backend of a branch: a connection, and the first reply to the client's startup packet, with
// one deadline for both. A backend that refuses for now (57P03) or closes without a word has not taken the client in.
// Reports once, and nothing after the abort.
import type { ProxySocket } from '../socket.ts';
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { BranchDialOutcome } from '../../reports/branch-events.ts';
import type { BranchServer, DialResult, DialServer } from '../server.ts';
import { awaitFirstReply, type FirstReply } from '../connect/first-reply.ts';
import type { FirstRequest } from '../startup/client-startup.ts';

export interface ReachOptions {
  readonly server: BranchServer;
  readonly dial: DialServer;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The startup packet. The client's bytes behind it wait for the relay. */
  readonly request: FirstRequest;
  /** The backend is the caller's, who must listen to it synchronously. */
  readonly onReached: (backend: ProxySocket, reply: FirstReply) => void;
  readonly onFailed: (failure: ReachFailure) => void;
}

export interface ReachFailure {
  readonly outcome: Exclude<BranchDialOutcome, 'connected'>;
  /** For a message, without an address. */
  readonly detail: string;
  /** Another attempt is of no use. */
  readonly isLasting?: boolean | undefined;
}

/** Returns the abort, which closes the connection; it is idempotent. */
export function reachBackend(options: ReachOptions): () => void {
  const { server, dial, clock, timeoutMs, request, onReached, onFailed } = options;
  const startedAt = clock.now();
  let abort = nothing;
  const dialled = (result: DialResult): void => {
    if (result.kind === 'failed') return onFailed(failureOf(result));
    const { socket } = result;
    abort = awaitFirstReply({
      backend: socket,
      request,
      clock,
      limitMs: Math.max(0, startedAt + timeoutMs - clock.now()),
      onReply: (reply) => onReached(socket, reply),
      onSilent: () => onFailed({ outcome: 'timeout', detail: `no reply within ${timeoutMs} ms` }),
      // A startup packet is never declined.
      onDeclined: () => socket.destroy(),
      onTurnedAway: (refusal) =>
        refusal === undefined
          ? onFailed({ outcome: 'failed', detail: 'connection closed without a reply' })
          : onFailed({ outcome: 'starting', detail: `the server is starting or stopping (${refusal.sqlState})` }),
    });
    return undefined;
  };
  const abortDial = dial(server, { clock, timeoutMs }, dialled);
  return () => {
    abortDial();
    abort();
  };
}

function failureOf({ outcome, isUnresolvable, isLasting, detail }: Extract<DialResult, { kind: 'failed' }>) {
  return { outcome: isUnresolvable === true ? ('unresolvable' as const) : outcome, detail, isLasting };
}
