// Whether a server takes new sessions now: a server that has ended one session alone still does, and one that stops,
// recovers or is gone does not. The client's own startup packet is sent, and the connection closed after the first
// reply. Silence tells nothing: the server may be overloaded, or this machine have no socket left.
import { awaitFirstReply } from '../connect/first-reply.ts';
import type { Dial } from '../connect/dial.ts';
import type { Clock } from '../../model/instant.ts';
import type { Address } from '../../model/member.ts';

export interface LetsInInputs {
  readonly address: Address;
  readonly packet: Uint8Array;
  readonly dial: Dial;
  readonly clock: Clock;
}

/** For the connection, and for the reply. Milliseconds. */
const LIMIT_MS = 2_000;

export type Entrance = 'open' | 'closed' | 'silent';

const nothing = (): void => {};

/**
 * Calls `onAnswer` once. A refusal for another reason, such as a limit, comes from a server that runs: open. Returns
 * the abort, which is idempotent; nothing is reported after it.
 */
export function letsIn(
  { address, packet, dial, clock }: LetsInInputs,
  onAnswer: (entrance: Entrance) => void,
): () => void {
  let abortReply = nothing;
  const abortDial = dial(address, { clock, timeoutMs: LIMIT_MS }, (result) => {
    if (result.kind === 'failed') return onAnswer(result.outcome === 'refused' ? 'closed' : 'silent');
    const backend = result.socket;
    const closed = (): void => onAnswer('closed');
    abortReply = awaitFirstReply({
      backend,
      request: { kind: 'startup', packet },
      clock,
      limitMs: LIMIT_MS,
      onReply: () => {
        backend.destroy();
        onAnswer('open');
      },
      onDeclined: closed,
      onTurnedAway: closed,
      onSilent: () => onAnswer('silent'),
    });
    return undefined;
  });
  return () => {
    abortDial();
    abortReply();
  };
}
