// The network between the members and to their store: members can be cut off from it. Clients reach every member.
import type { AskPeers } from './manager/peers.ts';

export class Network {
  readonly #cut = new Set<string>();

  cut(member: string): void {
    this.#cut.add(member);
  }

  join(member: string): void {
    this.#cut.delete(member);
  }

  isCut(member: string): boolean {
    return this.#cut.has(member);
  }

  /** `ask`, as far as it gets from this member. */
  through(member: string, ask: AskPeers): AskPeers {
    return async (others, deadlineMs) => {
      const isReached = (name: string): boolean => !this.isCut(member) && !this.isCut(name);
      const answers = await ask(
        others.filter(({ name }) => isReached(name)),
        deadlineMs,
      );
      const silent = others.filter(({ name }) => !isReached(name));
      return [...answers, ...silent.map(({ name }) => ({ name, kind: 'silent' }) as const)];
    };
  }
}
