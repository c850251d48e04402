// One prober for each known member.
import type { MemberName } from '../model/member.ts';
import type { Prober } from './prober.ts';

export class Probers {
  readonly #create: (member: MemberName) => Prober;
  readonly #probers = new Map<MemberName, Prober>();

  constructor(create: (member: MemberName) => Prober) {
    this.#create = create;
  }

  /** Starts and stops probers. Returns the members that came and those that left. */
  follow(members: ReadonlyMap<MemberName, unknown>): {
    readonly added: readonly MemberName[];
    readonly removed: readonly MemberName[];
  } {
    const removed = [...this.#probers.keys()].filter((name) => !members.has(name));
    const added = [...members.keys()].filter((name) => !this.#probers.has(name));
    for (const name of removed) {
      this.#probers.get(name)?.stop();
      this.#probers.delete(name);
    }
    for (const name of added) {
      const prober = this.#create(name);
      this.#probers.set(name, prober);
      prober.start();
    }
    return { added, removed };
  }

  /** See Prober. Undefined: the member has left. */
  of(member: MemberName): Prober | undefined {
    return this.#probers.get(member);
  }

  soon(minMs: number): void {
    for (const prober of this.#probers.values()) prober.soon(minMs);
  }

  reschedule(): void {
    for (const prober of this.#probers.values()) prober.reschedule();
  }

  stop(): void {
    for (const prober of this.#probers.values()) prober.stop();
  }
}
