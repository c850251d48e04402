// Probes one member, round after round. A round probes the checks that the answers so far leave open, one request at a
// time. Owns its timer. Never judges an answer: it hands observations over.
import type { Check } from '../model/check.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { isSameServer, type Member } from '../model/member.ts';
import type { Probe, ProbeObservation } from '../model/observation.ts';

export interface ProberOptions {
  /** The member as known now. Undefined ends the round. */
  readonly member: () => Member | undefined;
  readonly probe: Probe;
  readonly timeoutMs: () => number;
  readonly clock: Clock;
  readonly random: () => number;
  /** The next check in a round that began at `roundAt`. Undefined ends the round. */
  readonly nextCheck: (roundAt: Instant) => Check | undefined;
  /** Between the starts of two rounds, before jitter. Milliseconds. */
  readonly intervalMs: () => number;
  readonly onObservation: (observation: ProbeObservation, durationMs: number) => void;
}

/** A round may start this part of the interval early or late, so that proxies do not synchronise. */
const JITTER = 0.1;

export class Prober {
  readonly #options: ProberOptions;
  #cancelTimer: () => void = () => {};
  #round: Promise<void> | undefined;
  /** Resolves with the next round; shared by all callers that wait for it. */
  #shared: PromiseWithResolvers<void> | undefined;
  #startedAt: Instant = -Infinity;
  #isStopped = false;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(0);
  }

  /** The interval may have changed: schedules the next round again, from the start of the last one. */
  reschedule(): void {
    if (this.#round === undefined) this.#schedule(this.#untilNextRound());
  }

  /** Brings the next round forward to `minMs` after the start of the last one. Milliseconds. */
  soon(minMs: number): void {
    if (this.#round !== undefined) return;
    const { clock } = this.#options;
    this.#schedule(Math.min(this.#untilNextRound(), Math.max(0, this.#startedAt + minMs - clock.now())));
  }

  /**
   * Resolves at the end of a round: the one under way, else the next one. The next one starts now, but not before
   * `minMs` (milliseconds) after the start of the last one. All callers meanwhile share it.
   */
  probeNow(minMs: number): Promise<void> {
    if (this.#round !== undefined || this.#isStopped) return this.#round ?? Promise.resolve();
    if (this.#startedAt + minMs <= this.#options.clock.now()) return this.#begin();
    this.soon(minMs);
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
    this.#round = this.#probeAll(this.#startedAt).finally(() => {
      this.#round = undefined;
      shared?.resolve();
      this.#schedule(this.#untilNextRound());
    });
    return this.#round;
  }

  async #probeAll(roundAt: Instant): Promise<void> {
    const { member, probe, timeoutMs, clock, nextCheck, onObservation } = this.#options;
    for (let check = nextCheck(roundAt); check !== undefined; check = nextCheck(roundAt)) {
      const target = member();
      if (target === undefined) return;
      const startedAt = clock.now();
      const outcome = await probe(target, check, timeoutMs());
      // An answer from the member's old address is no evidence about the member.
      if (this.#isStopped || !isSameServer(target, member())) return;
      const asked = { member: target.name, check: check.text, startedAt };
      onObservation({ kind: 'probe', ...asked, outcome }, clock.now() - startedAt);
    }
  }
}
