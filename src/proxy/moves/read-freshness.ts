// Keeps read sessions from going back in time: the next server must show all that the old one has shown. Gives the rule
// (core/caught-up.ts) what it needs: the snapshot, and a yes of the primary from after both servers' words.
import { catchUp, followed, seemsCaughtUp, shownBy, type CatchUp, type SeenPosition } from '../../core/caught-up.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { addressText, isSameAddress, type Address, type MemberName } from '../../model/member.ts';
import type { WalReport } from '../../model/moves.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { FreshnessCheck, FreshnessRule } from './freshness-rule.ts';

export interface ReadFreshnessOptions {
  /** Absent: nothing is known, so no read session moves. */
  readonly snapshot?: (() => Snapshot) | undefined;
  readonly freshen: (pool: PoolName, since: Instant) => Promise<void> | undefined;
  readonly pools: () => readonly PoolPolicy[];
  readonly clock: Clock;
}

/** Sessions that arrive within this time share a probe of the primary. Milliseconds. */
const SHARED_MS = 50;
/** Servers whose timelines are kept. */
const MOST_SERVERS = 1_000;

const resolved = Promise.resolve();

export class ReadFreshness implements FreshnessRule {
  readonly #options: ReadFreshnessOptions;
  /** By address. A server that is no member any more has sessions that are still to be asked. */
  readonly #timelines = new Map<string, number>();
  #running: Promise<void> = resolved;
  /** Begins after `#running`. */
  #next: Promise<void> | undefined;

  constructor(options: ReadFreshnessOptions) {
    this.#options = options;
    this.learn();
  }

  /** To be called with each table. A server only goes on to later timelines, so the last one is followed at least. */
  learn(): void {
    for (const record of this.#options.snapshot?.().members.values() ?? []) {
      const { postgres } = record.member;
      const timeline = followed(record);
      if (postgres === undefined) continue;
      if (timeline !== undefined) this.#timelines.set(addressText(postgres), timeline);
      else if (record.mismatch !== undefined) this.#timelines.delete(addressText(postgres));
    }
    const [oldest] = this.#timelines.keys();
    if (this.#timelines.size > MOST_SERVERS && oldest !== undefined) this.#timelines.delete(oldest);
  }

  shown(member: MemberName, wal: WalReport | undefined, address?: Address): SeenPosition | string {
    const snapshot = this.#options.snapshot?.();
    if (snapshot === undefined || wal === undefined) return `the WAL position of ${member} is not known`;
    if (this.#primaryPools().length === 0) return 'no pool asks for the primary';
    const known = shownBy(snapshot, member, wal, this.#options.clock.now());
    const isMember = isSameAddress(snapshot.members.get(member)?.member.postgres, address);
    const isByName = address === undefined || isMember || wal.kind === 'primary';
    const shown = isByName ? known : { ...known, timeline: this.#timelines.get(addressText(address)) };
    if (shown.timeline === undefined) return `the timeline of ${member} is not known`;
    return this.lost(shown) ?? shown;
  }

  lost({ timeline = 0 }: SeenPosition): string | undefined {
    const highest = this.#options.snapshot?.().highestTimeline ?? 0;
    return timeline < highest ? `it has read on timeline ${timeline}, which has ended` : undefined;
  }

  seemsCaughtUp(shown: SeenPosition, member: MemberName): boolean {
    const { snapshot, pools } = this.#options;
    return snapshot !== undefined && seemsCaughtUp(pools(), snapshot(), shown, member);
  }

  bind(shown: SeenPosition, member: MemberName): FreshnessCheck {
    return { kind: 'catch_up', compare: (wal) => this.compare(shown, member, wal) };
  }

  /** `wal`: what the member has just said. Never rejects. */
  async compare(shown: SeenPosition, member: MemberName, wal: WalReport): Promise<CatchUp> {
    const { snapshot, pools, clock } = this.#options;
    const reached = { member, wal, at: clock.now() };
    await this.#primaryProbed();
    if (snapshot === undefined) return { kind: 'never', why: 'timeline_unknown' };
    return catchUp(pools(), snapshot(), shown, reached);
  }

  #primaryProbed(): Promise<void> {
    this.#next ??= this.#probeAfter(this.#running);
    return this.#next;
  }

  async #probeAfter(running: Promise<void>): Promise<void> {
    await running;
    const { freshen, clock } = this.#options;
    this.#next = undefined;
    const probed = Promise.all(this.#primaryPools().map(async ({ name }) => freshen(name, clock.now())));
    const { promise: pause, resolve: goOn } = Promise.withResolvers<void>();
    clock.schedule(SHARED_MS, goOn);
    this.#running = probed.then(() => pause);
    await probed;
  }

  #primaryPools(): readonly PoolPolicy[] {
    return this.#options.pools().filter(({ check }) => check.family === 'primary');
  }
}
