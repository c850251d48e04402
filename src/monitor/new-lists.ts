// Collects the member lists after a change of `cluster` in the configuration, until it is clear which members are gone:
// one document may omit a member that the next one names.
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

  /** Adds a list. Returns the members that any list has named so far, and whether that result is final. */
  read(members: readonly { readonly name: MemberName }[], startedAt: Instant): NewList {
    this.#since ??= startedAt;
    for (const { name } of members) this.#named.add(name);
    return { named: this.#named, isGraceOver: startedAt >= this.#since + this.#graceMs };
  }

  /** From when on a list makes the result final. Undefined before the first list. */
  endsAt(): Instant | undefined {
    return this.#since === undefined ? undefined : this.#since + this.#graceMs;
  }
}
