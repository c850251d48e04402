// The policy of one worker. Rates are divided by the number of workers. Limits on numbers are whole, because each
// worker counts what the other workers have. Holds only what a worker needs. Pure.
import type { MovesPolicy } from '../model/moves.ts';
import type { WorkerPolicy } from './messages.ts';

export function divideRates(
  {
    pools,
    listeners,
    client,
    backend,
    hold,
    relay,
    branches,
    moves,
    logins,
    questions,
    cancelPeers,
    probe,
    zone,
  }: WorkerPolicy,
  processes: number,
): WorkerPolicy {
  return {
    pools,
    listeners,
    backend,
    relay,
    branches: branches && {
      connect: branches.connect,
      backends: { caFile: branches.backends.caFile },
      pool: branches.pool,
    },
    moves: moves && dividedMoves(moves, processes),
    logins,
    questions: questions && { ...questions, perSecond: questions.perSecond / processes },
    cancelPeers,
    probe,
    zone,
    client: { ...client, maxDisconnectsPerSecond: client.maxDisconnectsPerSecond / processes },
    hold: { ...hold, maxConnectsPerSecond: hold.maxConnectsPerSecond / processes },
  };
}

/** A worker does not know of the others' logins and questions, so their numbers are divided, too. */
function dividedMoves(moves: MovesPolicy, processes: number): MovesPolicy {
  const share = (ofAll: number): number => Math.max(1, Math.floor(ofAll / processes));
  return {
    ...moves,
    concurrent: share(moves.concurrent),
    perSecond: moves.perSecond / processes,
    questions: share(moves.questions),
  };
}
