// A small cluster with everything that makes reads of two servers differ: replay that is behind, an effect that is
// visible before its record counts as replayed, commits that a primary shows late or before they are flushed, failovers
// that lose WAL, rewinds, crashes that take a standby back, answers that arrive late, and APIs that report an old
// timeline. It knows what each server really shows.
import { observe } from '../../../src/core/observe.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import type { MemberName } from '../../../src/model/member.ts';
import type { WalReport } from '../../../src/model/moves.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import { aList, answered, aPolicy, READ_CHECK } from '../../support/values/builders.ts';

/** The commit of a transaction. */
export interface Commit {
  readonly transaction: number;
  readonly timeline: number;
}

interface Server {
  readonly name: MemberName;
  /** Grows at each start. */
  life: number;
  timeline: number;
  /** The timeline that its API has, which may be old. */
  reported: number;
  isPrimary: boolean;
  /** Its WAL, from the beginning of the cluster. */
  wal: readonly Commit[];
  /** The records that count as replayed on a standby, and those with a visible effect: the same, or one more. */
  replayed: number;
  shownRecords: number;
  /** After a crash a standby opens from here on. */
  consistentFrom: number;
  /** The records that a primary has flushed. */
  flushed: number;
  visible: readonly Commit[];
  running: readonly number[];
}

export const SERVERS = ['pg-1', 'pg-2', 'pg-3'] as const;
const RECORD_BYTES = 100;

export class MovedReadsWorld {
  readonly policy: RoutingPolicy = aPolicy();
  snapshot: Snapshot = observe(this.policy, emptySnapshot('lab'), aList(0, ...SERVERS));
  now = 1;
  readonly #servers: readonly Server[];
  #nextTransaction = 1;
  #timeline = 1;
  readonly #underWay: Observation[] = [];

  constructor() {
    this.#servers = SERVERS.map((name, index) => ({
      name,
      life: 0,
      timeline: 1,
      reported: 1,
      isPrimary: index === 0,
      wal: [],
      replayed: 0,
      shownRecords: 0,
      consistentFrom: 0,
      flushed: 0,
      visible: [],
      running: [],
    }));
  }

  /** One step of the cluster. `kind` and `which` choose it; a step that makes no sense now does nothing. */
  step(kind: number, which: number): void {
    this.now += 1;
    const server = this.#servers[which % this.#servers.length];
    const primary = this.#servers.find(({ isPrimary }) => isPrimary);
    if (server === undefined) return;
    switch (kind) {
      case 0:
        return primary && this.#begin(primary);
      case 1:
        return primary && this.#logCommit(primary, which);
      case 2:
        return primary && this.#flush(primary);
      case 3:
        return primary && this.#show(primary, which);
      case 4:
        return this.#receiveAndReplay(server, primary);
      case 5:
        return this.#finishRecord(server);
      case 6:
        return this.#probe(server, true);
      case 7:
        return this.#probe(server, false);
      case 8:
        return this.#deliver(which);
      case 9:
        return this.#failOver(server, primary);
      case 10:
        return this.#crashAsStandby(server);
      case 11:
        return this.#catchUpCompletely(server, primary);
      case 12:
        return this.#stepDown(server);
      case 13:
        return this.#probeAll();
      case 14:
        return primary && this.#commit(primary);
      case 15:
        this.#receiveAndReplay(server, primary);
        return this.#finishRecord(server);
      default:
    }
  }

  life(name: MemberName): number {
    return this.#server(name).life;
  }

  primary(): MemberName | undefined {
    return this.#servers.find(({ isPrimary }) => isPrimary)?.name;
  }

  /** Where its WAL ends, and up to where it is flushed. Bytes. */
  wal(name: MemberName): { readonly commits: readonly Commit[]; readonly written: number; readonly flushed: number } {
    const { wal, flushed } = this.#server(name);
    return { commits: wal, written: wal.length * RECORD_BYTES, flushed: flushed * RECORD_BYTES };
  }

  shows(name: MemberName): readonly Commit[] {
    const { isPrimary, visible, wal, shownRecords } = this.#server(name);
    return isPrimary ? visible : wal.slice(0, shownRecords);
  }

  says(name: MemberName): WalReport {
    const server = this.#server(name);
    const shown = this.shows(name);
    const highest = Math.max(0, ...shown.map(({ transaction }) => transaction));
    const allVisibleBelow = highest + 1;
    if (!server.isPrimary) {
      const replayed = server.replayed * RECORD_BYTES;
      return { kind: 'standby', replayed, transactions: { allEndedBelow: 0, allVisibleBelow } };
    }
    const allEndedBelow = Math.min(this.#nextTransaction, ...server.running);
    const written = server.wal.length * RECORD_BYTES;
    return {
      kind: 'primary',
      timeline: server.timeline,
      written,
      transactions: { allEndedBelow, allVisibleBelow },
    };
  }

  #begin(primary: Server): void {
    primary.running = [...primary.running, this.#nextTransaction];
    this.#nextTransaction += 1;
  }

  #logCommit(primary: Server, which: number): void {
    const waiting = primary.running.filter(
      (transaction) => !primary.wal.some((commit) => commit.transaction === transaction),
    );
    const transaction = waiting[which % waiting.length];
    if (transaction !== undefined) primary.wal = [...primary.wal, { transaction, timeline: primary.timeline }];
  }

  #flush(primary: Server): void {
    primary.flushed = primary.wal.length;
  }

  /** An asynchronous commit may be visible before it is flushed; a synchronous one long after that. */
  #show(primary: Server, which: number): void {
    const hidden = primary.wal.filter((commit) => !primary.visible.includes(commit));
    const commit = hidden[which % hidden.length];
    if (commit === undefined) return;
    primary.visible = [...primary.visible, commit];
    primary.running = primary.running.filter((transaction) => transaction !== commit.transaction);
  }

  /** One record from the primary, whose effect is visible but which does not count as replayed yet. */
  #receiveAndReplay(server: Server, primary: Server | undefined): void {
    if (server.isPrimary || server.shownRecords !== server.replayed) return;
    this.#receive(server, primary);
    if (server.shownRecords < server.wal.length) server.shownRecords += 1;
  }

  #receive(server: Server, primary: Server | undefined): void {
    if (primary === undefined || server.wal.length >= primary.flushed) return;
    const isPrefix = server.wal.every((commit, index) => primary.wal[index] === commit);
    if (isPrefix) {
      server.wal = primary.wal.slice(0, server.wal.length + 1);
      server.timeline = primary.timeline;
    }
  }

  #finishRecord(server: Server): void {
    if (server.isPrimary) return;
    server.replayed = server.shownRecords;
  }

  #catchUpCompletely(server: Server, primary: Server | undefined): void {
    if (server.isPrimary || primary === undefined) return;
    const isPrefix = server.wal.every((commit, index) => primary.wal[index] === commit);
    // A standby on another history is rewound, which is a restart.
    if (!isPrefix || server.wal.length > primary.flushed) server.life += 1;
    server.wal = primary.wal.slice(0, primary.flushed);
    server.timeline = primary.timeline;
    server.replayed = server.wal.length;
    server.shownRecords = server.wal.length;
    server.consistentFrom = Math.min(server.consistentFrom, server.wal.length);
  }

  #crashAsStandby(server: Server): void {
    if (server.isPrimary) return;
    server.life += 1;
    server.replayed = server.consistentFrom;
    server.shownRecords = server.consistentFrom;
    server.consistentFrom = Math.floor(server.wal.length / 2);
  }

  /** The leader lock passes on: the old primary is no primary any more before the next one is promoted. */
  #failOver(server: Server, primary: Server | undefined): void {
    if (server === primary) return;
    if (primary !== undefined) this.#stepDown(primary);
    this.#timeline += 1;
    server.isPrimary = true;
    server.wal = server.wal.slice(0, server.shownRecords);
    server.visible = server.wal;
    server.flushed = server.wal.length;
    server.running = [];
    server.timeline = this.#timeline;
    this.#nextTransaction = Math.max(0, ...server.wal.map(({ transaction }) => transaction)) + 1;
  }

  /** It restarts as a standby with its own WAL, which the next primary may not have. */
  #stepDown(server: Server): void {
    if (!server.isPrimary) return;
    server.life += 1;
    server.isPrimary = false;
    server.running = [];
    server.wal = server.wal.slice(0, server.flushed);
    server.replayed = server.wal.length;
    server.shownRecords = server.wal.length;
    server.consistentFrom = server.wal.length;
  }

  #probe(server: Server, isNoticed: boolean): void {
    if (isNoticed) server.reported = server.timeline;
    const { name, isPrimary, wal, flushed, replayed, reported, timeline } = server;
    const facts = { state: 'running', scope: 'lab', name } as const;
    this.#underWay.push(
      isPrimary
        ? answered({
            member: name,
            at: this.now,
            body: { ...facts, role: 'primary', timeline, location: Math.min(flushed, wal.length) * RECORD_BYTES },
          })
        : answered({
            member: name,
            check: READ_CHECK,
            at: this.now,
            body: { ...facts, role: 'replica', timeline: reported, replayed: replayed * RECORD_BYTES },
          }),
    );
  }

  #deliver(which: number): void {
    const [observation] = this.#underWay.splice(which % Math.max(1, this.#underWay.length), 1);
    if (observation !== undefined) this.snapshot = observe(this.policy, this.snapshot, observation);
  }

  #commit(primary: Server): void {
    this.#begin(primary);
    this.#logCommit(primary, 0);
    this.#flush(primary);
    this.#show(primary, 0);
  }

  /** Every answer arrives, those that were under way first. */
  #probeAll(): void {
    for (const server of this.#servers) this.#probe(server, true);
    for (const observation of this.#underWay.splice(0)) {
      this.snapshot = observe(this.policy, this.snapshot, observation);
    }
  }

  #server(name: MemberName): Server {
    const server = this.#servers.find((candidate) => candidate.name === name);
    if (server === undefined) throw new Error(`no server ${name}`);
    return server;
  }
}
