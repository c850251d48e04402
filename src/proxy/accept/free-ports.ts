// Checks that addresses are free before several processes share each of them: sharing a port (SO_REUSEPORT) would also
// share it with any process that has it already. The addresses are bound for a moment and given back. A client that
// connects in that moment is cut off, as if nothing listened yet.
import type { ListenerPolicy } from '../../model/policy.ts';
import type { CreateServer } from '../options.ts';
import { Listeners, type BoundListener, type ListenFailure } from './listeners.ts';

export type FreePorts =
  /** In the order of the listeners; for port 0 with a port that is free. */
  { readonly kind: 'free'; readonly listeners: readonly BoundListener[] } | ListenFailure;

/** `own`: the listeners of this program, to name one that is in the way. */
export async function findFreePorts(
  listeners: readonly ListenerPolicy[],
  own: readonly BoundListener[] = [],
  createServer?: CreateServer,
): Promise<FreePorts> {
  const trial = new Listeners({
    onConnection: (_, client) => client.destroy(),
    onFailure: () => {},
    own: () => own,
    createServer,
  });
  const prepared = await trial.prepare(listeners);
  if (prepared.kind === 'failed') return prepared;
  const { added } = prepared.apply();
  trial.close();
  return { kind: 'free', listeners: added };
}
