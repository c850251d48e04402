// The positions of servers, as a test wants them to be. A question is answered at once, or when the test says so.
import type { AskedServer, Positions, PrimaryWord, ReplicaWord, NoAnswer } from '../../../src/model/causal-reads.ts';
import type { MemberName } from '../../../src/model/member.ts';

export class FakePositions implements Positions {
  /** The positions of the primary, in bytes. */
  written = 100;
  flushed = 100;
  timeline = 1;
  /** By member. Bytes. */
  readonly replayed = new Map<MemberName, number>();
  /** The members that do not answer, with their words. */
  readonly faults = new Map<MemberName, string>();
  nudges = 0;
  /** Questions to the primary, and to replicas. */
  asked = { primary: 0, replica: 0 };
  /** Set: answers wait until it resolves. */
  delay: Promise<void> | undefined;
  readonly #primaries = new Map<MemberName, PrimaryWord>();
  readonly #replicas = new Map<MemberName, ReplicaWord>();
  #newest = 0;

  newestQuestion(): number {
    return this.#newest;
  }

  async askPrimary(server: AskedServer): Promise<PrimaryWord | NoAnswer> {
    this.asked.primary += 1;
    const question = (this.#newest += 1);
    await this.delay;
    const why = this.faults.get(server.member);
    if (why !== undefined) return { why };
    const { timeline, written, flushed } = this;
    const word = { ...server, question, timeline, written, flushed };
    this.#primaries.set(server.member, word);
    return word;
  }

  async askReplica(server: AskedServer): Promise<ReplicaWord | NoAnswer> {
    this.asked.replica += 1;
    const question = (this.#newest += 1);
    await Promise.resolve();
    const why = this.faults.get(server.member);
    if (why !== undefined) return { why };
    const word = { ...server, question, replayed: this.replayed.get(server.member) ?? 0 };
    this.#replicas.set(server.member, word);
    return word;
  }

  lastPrimary({ member }: AskedServer): PrimaryWord | undefined {
    return this.#primaries.get(member);
  }

  lastReplica({ member }: AskedServer): ReplicaWord | undefined {
    return this.#replicas.get(member);
  }

  nudge(): void {
    this.nudges += 1;
  }

  end(): void {
    this.delay = undefined;
  }
}
