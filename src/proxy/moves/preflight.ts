// Asks all sessions of a member whether they could move, and counts the answers. No session is moved, and a client
// waits only while its own server answers. A session in a transaction is asked at the end of it.
import type { Clock } from '../../model/instant.ts';
import type { Movability, PinReason } from '../../model/moves.ts';
import { PREFLIGHT_MS, sumOfPreflights } from '../../reports/preflight.ts';
import type { Preflight } from '../../reports/preflight.ts';
import type { RegisteredSession } from '../session-registry.ts';

/** Questions at a time: the server has other work. */
const CONCURRENT = 16;

type AskedSession = Pick<RegisteredSession, 'state' | 'movable' | 'onIdle'>;

export function preflight(sessions: readonly AskedSession[], clock: Clock): Promise<Preflight> {
  return new Round(sessions, clock).ended;
}

class Round {
  readonly ended: Promise<Preflight>;
  readonly #queue: AskedSession[];
  readonly #stays = new Map<PinReason, number>();
  /** Of the sessions that are asked when they are idle. */
  readonly #stops = new Set<() => void>();
  readonly #end: () => void;
  #movable = 0;
  #unknown: number;
  #asking = 0;
  #isOver = false;

  constructor(sessions: readonly AskedSession[], clock: Clock) {
    this.#queue = [...sessions];
    this.#unknown = sessions.length;
    const { promise, resolve } = Promise.withResolvers<Preflight>();
    this.ended = promise;
    const cancel = clock.schedule(PREFLIGHT_MS, () => this.#end());
    this.#end = () => {
      if (this.#isOver) return;
      this.#isOver = true;
      cancel();
      for (const stop of this.#stops) stop();
      const stays = Object.fromEntries(this.#stays);
      resolve(sumOfPreflights([{ movable: this.#movable, stays, unknown: this.#unknown }]));
    };
    this.#next();
  }

  #next(): void {
    while (!this.#isOver && this.#asking < CONCURRENT) {
      const session = this.#queue.shift();
      if (session === undefined) break;
      this.#asking += 1;
      void this.#ask(session);
    }
    // Nothing more can come: the others connect, or have ended.
    if (this.#asking === 0 && this.#stops.size === 0) this.#end();
  }

  async #ask(session: AskedSession): Promise<void> {
    const answer = await asked(session);
    this.#asking -= 1;
    if (this.#isOver) return;
    if (answer?.kind === 'pinned' && answer.reason === 'busy') this.#askWhenIdle(session);
    else if (answer !== undefined) this.#count(answer);
    this.#next();
  }

  #askWhenIdle(session: AskedSession): void {
    const stopListening = session.onIdle(() => {
      stop();
      this.#queue.push(session);
      this.#next();
    });
    const stop = (): void => {
      stopListening();
      this.#stops.delete(stop);
    };
    this.#stops.add(stop);
  }

  #count(answer: Movability): void {
    this.#unknown -= 1;
    if (answer.kind === 'movable') this.#movable += 1;
    else this.#stays.set(answer.reason, (this.#stays.get(answer.reason) ?? 0) + 1);
  }
}

/** Undefined: nothing can be asked now, because it connects, moves or ends. */
async function asked(session: AskedSession): Promise<Movability | undefined> {
  if (session.state !== 'relaying') return undefined;
  const { movable } = session;
  if (movable === undefined) return { kind: 'pinned', reason: 'unreadable' };
  return new Promise((resolve) => movable.ask(resolve));
}
