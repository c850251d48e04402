// Whether addresses are free, asked before several processes share each: sharing a port (SO_REUSEPORT) would also join whoever has it
// already. They are bound for a moment and given back; who connects in it is cut off, as if nobody listened yet.
import type { ListenerPolicy } from '../../model/policy.ts';
import { Listeners } from './listeners.ts';
import type { BoundListener, ListenFailure } from './listeners.ts';

export type FreePorts =
  /** In the order of the listeners; for port 0 with one that is free. */
  { readonly kind: 'vacant'; readonly listeners: readonly BoundListener[] } | ListenFailure;

/** `own`: what is listened on already, to say so where it is in the way. */
export async function findFreePorts(
  listeners: readonly ListenerPolicy[],
  own: readonly BoundListener[] = [],
): Promise<FreePorts> {
  const trial = new Listeners({
    onConnection: (_, client) => client.destroy(),
    onFailure: () => {},
    own: () => own,
  });
  const prepared = await trial.prepare(listeners);
  if (prepared.kind === 'failed') return prepared;
  const { added } = prepared.apply();
  trial.close();
  return { kind: 'vacant', listeners: added };
}
