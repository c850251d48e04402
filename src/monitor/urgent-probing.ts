// Holds the present episode of urgent probing: who smelled what, and what pace follows. Tells when it begins and ends.
import type { MonitorEvent } from '../reports/events.ts';
import type { Clock } from '../model/instant.ts';
import type { ProbePolicy } from '../model/policy.ts';
import { isUrgent, roundIntervalMs, smelled } from './urgency.ts';
import type { Urgency } from './urgency.ts';

export interface AlertOptions {
  readonly policy: () => ProbePolicy;
  readonly clock: Clock;
  readonly onEvent: (event: MonitorEvent) => void;
  /** The pace became faster: rounds already scheduled come too late. */
  readonly onHurry: () => void;
}

export class Alert {
  readonly #options: AlertOptions;
  #urgency: Urgency | undefined;
  #smells = new Set<string>();
  #isOn = false;

  constructor(options: AlertOptions) {
    this.#options = options;
  }

  /** `isNews` begins the urgent time anew, once per episode and name. */
  smell(name: string, isNews: boolean): void {
    const { clock, onHurry } = this.#options;
    const policy = this.#options.policy();
    const now = clock.now();
    if (!isUrgent(this.#urgency, now)) this.#smells = new Set();
    const before = roundIntervalMs(policy, this.#urgency, now);
    this.#urgency = smelled(this.#urgency, now, isNews && !this.#smells.has(name));
    this.#smells.add(name);
    this.#tell();
    if (roundIntervalMs(policy, this.#urgency, now) < before) onHurry();
  }

  /** From one round's start to the next one's, before jitter. Milliseconds. */
  intervalMs(): number {
    this.#tell();
    return roundIntervalMs(this.#options.policy(), this.#urgency, this.#options.clock.now());
  }

  #tell(): void {
    const isOn = isUrgent(this.#urgency, this.#options.clock.now());
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#options.onEvent({ kind: 'urgent_probing', on: isOn, smells: [...this.#smells] });
  }
}
