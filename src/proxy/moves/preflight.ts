// Asks all sessions of a member whether they could move, and counts the answers. No session is moved, and a client
// waits only while its own server answers. A session in a transaction is asked at the end of it.
import type { Clock } from '../../model/instant.ts';
import type { Movability, PinReason } from '../../model/moves.ts';
import { nothing } from '../../model/once.ts';
import { PREFLIGHT_MS, sumOfPreflights, type Preflight } from '../../reports/preflight.ts';
import type { SessionHandle } from '../stage.ts';

/** How often sessions are noticed that have ended instead of an answer. Milliseconds. */
const LOOK_MS = 100;

type PreflightSession = Pick<SessionHandle, 'state' | 'movable' | 'onIdle'>;

/** `questions`: at a time. */
export function preflight(sessions: readonly PreflightSession[], questions: number, clock: Clock): Promise<Preflight> {
  return new Round(sessions, questions, clock).ended;
}

class Round {
  readonly ended: Promise<Preflight>;
  readonly #questions: number;
  readonly #queue: PreflightSession[];
  readonly #stays = new Map<PinReason, number>();
  /** The sessions that are asked when they are idle. */
  readonly #waiting = new Map<PreflightSession, () => void>();
  readonly #asking = new Set<PreflightSession>();
  readonly #end: () => void;
  #movable = 0;
  #unknown: number;
  #isOver = false;

  constructor(sessions: readonly PreflightSession[], questions: number, clock: Clock) {
    this.#questions = questions;
    this.#queue = [...sessions];
    this.#unknown = sessions.length;
    const { promise, resolve } = Promise.withResolvers<Preflight>();
    this.ended = promise;
    const cancel = clock.schedule(PREFLIGHT_MS, () => this.#end());
    let cancelLook = nothing;
    const look = (): void => {
      cancelLook = clock.schedule(LOOK_MS, look);
      this.#dropEnded();
    };
    this.#end = () => {
      this.#isOver = true;
      cancel();
      cancelLook();
      for (const stopListening of this.#waiting.values()) stopListening();
      const stays = Object.fromEntries(this.#stays);
      resolve(sumOfPreflights([{ movable: this.#movable, stays, unknown: this.#unknown }]));
    };
    look();
  }

  #next(): void {
    while (!this.#isOver && this.#asking.size < this.#questions) {
      const session = this.#queue.shift();
      if (session === undefined) break;
      this.#asking.add(session);
      void this.#ask(session);
    }
    // Nothing more can come: the others connect.
    if (this.#asking.size === 0 && this.#waiting.size === 0) this.#end();
  }

  /** They count no more. */
  #dropEnded(): void {
    for (const session of [...this.#asking, ...this.#waiting.keys()].filter(hasEnded)) {
      this.#waiting.get(session)?.();
      this.#waiting.delete(session);
      this.#asking.delete(session);
      this.#unknown -= 1;
    }
    this.#next();
  }

  async #ask(session: PreflightSession): Promise<void> {
    const answer = await asked(session);
    // It has ended before.
    if (this.#isOver || !this.#asking.delete(session)) return;
    if (answer?.kind === 'pinned' && answer.reason === 'busy') this.#askWhenIdle(session);
    else if (answer !== undefined) this.#count(answer);
    else if (hasEnded(session)) this.#unknown -= 1;
    this.#next();
  }

  #askWhenIdle(session: PreflightSession): void {
    const stopListening = session.onIdle(() => {
      stopListening();
      this.#waiting.delete(session);
      this.#queue.push(session);
      this.#next();
    });
    this.#waiting.set(session, stopListening);
  }

  #count(answer: Movability): void {
    this.#unknown -= 1;
    if (answer.kind === 'movable') this.#movable += 1;
    else this.#stays.set(answer.reason, (this.#stays.get(answer.reason) ?? 0) + 1);
  }
}

function hasEnded({ state }: PreflightSession): boolean {
  return state === 'closing' || state === 'closed';
}

/** Undefined: nothing can be asked now, because it connects or moves. Never resolves when the session ends. */
async function asked(session: PreflightSession): Promise<Movability | undefined> {
  if (session.state !== 'relaying') return undefined;
  const { movable } = session;
  if (movable === undefined) return { kind: 'pinned', reason: 'unreadable' };
  return new Promise((resolve) => movable.ask(resolve));
}
