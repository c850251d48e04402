// Asks one member, round after round: each round asks the checks that the answers so far leave open, one request in flight at
// any time. Owns its timer. Never judges an answer: it hands observations over.
import type { Check } from '../model/check.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { isSameServer } from '../model/member.ts';
import type { Member } from '../model/member.ts';
import type { ProbeObservation, ProbeOutcome } from '../model/observation.ts';

/** Asks one check of one member; settles within the deadline, never rejects. */
export type Probe = (member: Member, check: Check, deadlineMs: number) => Promise<ProbeOutcome>;

export interface ProberOptions {
  /** The member as it is known now; undefined ends the round. */
  readonly member: () => Member | undefined;
  readonly probe: Probe;
  readonly timeoutMs: () => number;
  readonly clock: Clock;
  readonly random: () => number;
  /** The check to ask next in a round begun at `roundAt`; undefined ends the round. */
  readonly nextCheck: (roundAt: Instant) => Check | undefined;
  /** From one round's start to the next one's, before jitter. Milliseconds. */
  readonly intervalMs: () => number;
  readonly onObservation: (observation: ProbeObservation, durationMs: number) => void;
}

/** Share of the interval by which a round may come early or late, so that proxies do not fall into step. */
const JITTER = 0.1;

export class Prober {
  readonly #options: ProberOptions;
  #cancelTimer: () => void = () => {};
  #round: Promise<void> | undefined;
  /** The next round, for those who wait for it. */
  #shared: PromiseWithResolvers<void> | undefined;
  #startedAt: Instant = -Infinity;
  #isStopped = false;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(0);
  }

  /** The pace may have changed: counts the present interval again from the last round's start. */
  reschedule(): void {
    if (this.#round === undefined) this.#schedule(this.#untilNextRound());
  }

  /** Brings the next round forward to `leastMs` after the start of the last one. Milliseconds. */
  soon(leastMs: number): void {
    if (this.#round !== undefined) return;
    const { clock } = this.#options;
    this.#schedule(Math.min(this.#untilNextRound(), Math.max(0, this.#startedAt + leastMs - clock.now())));
  }

  /**
   * Resolves when a round has ended: the one under way, or else the next one. That one begins now, but not before
   * `leastMs` after the start of the last one: all who ask meanwhile share it. Milliseconds.
   */
  ask(leastMs: number): Promise<void> {
    if (this.#round !== undefined || this.#isStopped) return this.#round ?? Promise.resolve();
    if (this.#startedAt + leastMs <= this.#options.clock.now()) return this.#begin();
    this.soon(leastMs);
    this.#shared ??= Promise.withResolvers();
    return this.#shared.promise;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#shared?.resolve();
  }

  #untilNextRound(): number {
    const { clock, intervalMs, random } = this.#options;
    const jittered = intervalMs() * (1 - JITTER + 2 * JITTER * random());
    return Math.max(0, this.#startedAt + jittered - clock.now());
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    this.#cancelTimer = this.#options.clock.schedule(delayMs, () => void this.#begin());
  }

  #begin(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#cancelTimer();
    this.#startedAt = this.#options.clock.now();
    const shared = this.#shared;
    this.#shared = undefined;
    this.#round = this.#askAll(this.#startedAt).finally(() => {
      this.#round = undefined;
      shared?.resolve();
      this.#schedule(this.#untilNextRound());
    });
    return this.#round;
  }

  async #askAll(roundAt: Instant): Promise<void> {
    const { member, probe, timeoutMs, clock, nextCheck, onObservation } = this.#options;
    for (let check = nextCheck(roundAt); check !== undefined; check = nextCheck(roundAt)) {
      const asked = member();
      if (asked === undefined) return;
      const startedAt = clock.now();
      const outcome = await probe(asked, check, timeoutMs());
      // An answer from an address that is no longer the member's says nothing about the member.
      if (this.#isStopped || !isSameServer(asked, member())) return;
      const observation: ProbeObservation = {
        kind: 'probe',
        member: asked.name,
        check: check.text,
        startedAt,
        outcome,
      };
      onObservation(observation, clock.now() - startedAt);
    }
  }
}
