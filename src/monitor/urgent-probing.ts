// Holds the current episode of urgent probing: its triggers and the probe interval. Reports its start and its end.
import type { MonitorEvent } from '../reports/events.ts';
import type { Clock } from '../model/instant.ts';
import type { ProbePolicy } from '../model/policy.ts';
import { isUrgent, roundIntervalMs, triggered } from './urgency.ts';
import type { Urgency } from './urgency.ts';

export interface UrgentProbingOptions {
  readonly policy: () => ProbePolicy;
  readonly clock: Clock;
  readonly onEvent: (event: MonitorEvent) => void;
  /** The interval became shorter: scheduled rounds come too late. */
  readonly onFaster: () => void;
}

export class UrgentProbing {
  readonly #options: UrgentProbingOptions;
  #urgency: Urgency | undefined;
  #triggers = new Set<string>();
  #isOn = false;

  constructor(options: UrgentProbingOptions) {
    this.#options = options;
  }

  /** `isNews` restarts the urgent time, once per episode and name. */
  trigger(name: string, isNews: boolean): void {
    const { clock, onFaster } = this.#options;
    const policy = this.#options.policy();
    const now = clock.now();
    if (!isUrgent(this.#urgency, now)) this.#triggers = new Set();
    const before = roundIntervalMs(policy, this.#urgency, now);
    this.#urgency = triggered(this.#urgency, now, isNews && !this.#triggers.has(name));
    this.#triggers.add(name);
    this.#report();
    if (roundIntervalMs(policy, this.#urgency, now) < before) onFaster();
  }

  /** Between the starts of two rounds, before jitter. Milliseconds. */
  intervalMs(): number {
    this.#report();
    return roundIntervalMs(this.#options.policy(), this.#urgency, this.#options.clock.now());
  }

  #report(): void {
    const isOn = isUrgent(this.#urgency, this.#options.clock.now());
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#options.onEvent({ kind: 'urgent_probing', on: isOn, triggers: [...this.#triggers] });
  }
}
