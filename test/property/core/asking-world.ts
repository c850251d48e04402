// A small cluster and a process that asks its servers for their positions. It knows which commits were acknowledged,
// and which of them a failover has lost.
import type { ReadEvidence, ServerWords } from '../../../src/core/read-index.ts';
import type { AskedServer, PrimaryWord, ReplicaWord } from '../../../src/model/causal-reads.ts';
import type { MemberName } from '../../../src/model/member.ts';
import { MovedReadsWorld, SERVERS } from './moved-reads-world.ts';
import type { Commit } from './moved-reads-world.ts';

export type Step = readonly [kind: number, which: number];

/** Behind the steps of the world: the primary is asked, a server is asked as a replica, one answers, and all do. */
export const ASK_PRIMARY = 20;
export const ASK_REPLICA = 21;
export const ANSWER = 22;
export const ANSWER_ALL = 23;

interface Asked {
  readonly question: number;
  readonly server: AskedServer;
  readonly isPrimary: boolean;
  /** That of the connection. */
  readonly life: number;
}

/** The positions of the servers, as this process asks for them. */
export class AskingWorld {
  readonly world = new MovedReadsWorld();
  readonly acknowledged = new Set<Commit>();
  /** The commits that a primary did not have any more. A later failover may bring them back. */
  readonly lost = new Set<Commit>();
  newest = 0;
  readonly #underWay: Asked[] = [];
  readonly #replicaWords = new Map<MemberName, ReplicaWord>();
  protected primaryWord: PrimaryWord | undefined;
  /** The life of the server that said it. */
  protected primaryLife = 0;

  take(steps: readonly Step[]): void {
    for (const [kind, which] of steps) this.step(kind, which);
  }

  server(member: MemberName): AskedServer {
    const address = this.world.snapshot.members.get(member)?.member.postgres;
    if (address === undefined) throw new Error(`no address of ${member}`);
    return { member, address };
  }

  evidence(): ReadEvidence {
    return { pools: this.world.policy.pools, snapshot: this.world.snapshot, since: -Infinity };
  }

  /** The end of a connection is noticed late, here never. */
  words(server: MemberName): ServerWords {
    return { primary: this.primaryWord, replica: this.#replicaWords.get(server) };
  }

  protected step(kind: number, which: number): void {
    const { world } = this;
    const name = SERVERS[which % SERVERS.length] ?? 'pg-1';
    if (kind === ASK_PRIMARY || kind === ASK_REPLICA) {
      this.newest += 1;
      const asked = kind === ASK_PRIMARY ? (world.primary() ?? name) : name;
      const isPrimary = kind === ASK_PRIMARY;
      this.#underWay.push({ question: this.newest, server: this.server(asked), isPrimary, life: world.life(asked) });
    } else if (kind === ANSWER) {
      const [asked] = this.#underWay.splice(which % Math.max(1, this.#underWay.length), 1);
      if (asked !== undefined) this.#answer(asked);
    } else if (kind === ANSWER_ALL) {
      for (const asked of this.#underWay.splice(0)) this.#answer(asked);
    } else {
      world.step(kind, which);
    }
    const primary = world.primary();
    if (primary === undefined) return;
    for (const commit of this.acknowledged.difference(new Set(world.wal(primary).commits))) {
      this.acknowledged.delete(commit);
      this.lost.add(commit);
    }
    for (const commit of world.shows(primary)) this.acknowledged.add(commit);
  }

  #answer({ question, server, isPrimary, life }: Asked): void {
    const { world } = this;
    if (world.life(server.member) !== life) return;
    const says = world.says(server.member);
    if (isPrimary && says.kind === 'primary') {
      const { flushed } = world.wal(server.member);
      this.primaryLife = life;
      this.primaryWord = { ...server, question, timeline: says.timeline, written: says.written, flushed };
    } else if (!isPrimary && says.kind === 'standby') {
      this.#replicaWords.set(server.member, { ...server, question, replayed: says.replayed });
    }
  }
}
