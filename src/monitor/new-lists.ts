// The lists that are read after a new configuration of the cluster, until it is clear which members are gone: one
// document may omit a member that the next one names.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { NewList } from '../core/snapshot.ts';

export class NewLists {
  readonly #graceMs: number;
  readonly #named = new Set<MemberName>();
  #since: Instant | undefined;

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** Takes a list in; says who was named by any so far, and whether that is the last word. */
  read(members: readonly { readonly name: MemberName }[], startedAt: Instant): NewList {
    this.#since ??= startedAt;
    for (const { name } of members) this.#named.add(name);
    return { named: this.#named, isGraceOver: startedAt >= this.#since + this.#graceMs };
  }

  /** When a list would be the last word; undefined before the first. */
  endsAt(): Instant | undefined {
    return this.#since === undefined ? undefined : this.#since + this.#graceMs;
  }
}
