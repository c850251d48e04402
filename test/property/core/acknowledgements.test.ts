// With the scope `proxy` a read shows every commit to its database that was acknowledged through this process before it
// arrived, and that no failover has lost. The same property finds each of the rules that must not be weakened.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ForwardedBytes } from '../../../src/core/acknowledgements.ts';
import { judge, primaryServer, type PrimaryServer } from '../../../src/core/read-index.ts';
import type { AskedServer, PrimaryWord } from '../../../src/model/causal-reads.ts';
import { Acknowledgements, type ReadDemand } from '../../../src/proxy/reads/acknowledgements.ts';
import { ANSWER_ALL, ASK_PRIMARY, ASK_REPLICA, AskingWorld, type Step } from './asking-world.ts';
import { SERVERS, type Commit } from './moved-reads-world.ts';
import { rounds } from '../../support/runner/ci.ts';

/** More steps: clients get what the primary has acknowledged, or other bytes; a read comes. */
const FORWARD = 24;
const OTHER_BYTES = 25;
const ARRIVE = 26;

const DATABASES = ['even', 'odd'] as const;
type Database = (typeof DATABASES)[number];

interface Counter extends ForwardedBytes {
  readonly database: Database | undefined;
  toClientBytes: number;
}

/** A rule that is weaker. */
interface Weakness {
  /** Counters that are overlooked. */
  readonly overlooks?: (counter: Counter) => boolean;
  /** The newest question covers what is acknowledged behind it. */
  readonly trustsQuestions?: boolean;
  /** Bytes count when the client has them already. */
  readonly countsLate?: boolean;
  /** The bytes of known replicas are done with once they were seen. */
  readonly forgetsReplicas?: boolean;
}

class ProcessWorld extends AskingWorld {
  readonly forwarded = new Set<Commit>();
  readonly #weakness: Weakness;
  readonly #acknowledgements: Acknowledgements;
  readonly #counters: Counter[];
  #uncounted: Counter | undefined;

  constructor(weakness: Weakness) {
    super();
    this.#weakness = weakness;
    this.world.step(13, 0);
    this.#counters = [
      { server: undefined, database: undefined, toClientBytes: 0 },
      ...SERVERS.flatMap((name) =>
        [undefined, ...DATABASES].map((database) => ({ server: this.server(name), database, toClientBytes: 0 })),
      ),
    ];
    this.#acknowledgements = new Acknowledgements({
      positions: {
        newestQuestion: () => (weakness.trustsQuestions === true ? this.newest - 1 : this.newest),
        lastPrimary: (server) => this.lastPrimary(server),
      },
      snapshot: () => this.world.snapshot,
      proven: () => this.proven(),
      forwarded: (database) =>
        this.#counters
          .filter((counter) => counter.database === undefined || counter.database === database)
          .filter((counter) => weakness.overlooks?.(counter) !== true)
          .map((counter) => (weakness.forgetsReplicas === true ? this.#withoutReplicas(counter) : counter)),
    });
  }

  proven(): PrimaryServer | undefined {
    return primaryServer(this.evidence());
  }

  lastPrimary({ member }: AskedServer): PrimaryWord | undefined {
    return this.primaryWord?.member === member ? this.primaryWord : undefined;
  }

  demand(): ReadDemand {
    const demand = this.#acknowledgements.demand('even');
    this.wordFor(demand);
    return demand;
  }

  /** As the train keeps it. */
  wordFor({ arrived, shared }: ReadDemand): PrimaryWord | undefined {
    const proven = this.proven();
    const known = shared.word;
    if (known !== undefined && known.member === proven?.member && known.timeline === proven.timeline) return known;
    const last = proven && this.lastPrimary(proven);
    shared.word = last !== undefined && last.question > arrived ? last : undefined;
    return shared.word;
  }

  protected override step(kind: number, which: number): void {
    if (this.#uncounted !== undefined) this.#uncounted.toClientBytes += 1;
    this.#uncounted = undefined;
    if (kind === FORWARD) this.#forward(which);
    else if (kind === OTHER_BYTES) this.#count(which);
    else if (kind === ARRIVE) this.demand();
    else super.step(kind, which);
  }

  #forward(which: number): void {
    const primary = this.world.primary();
    if (primary === undefined) return;
    // The end of a connection to a primary is noticed before the next primary acknowledges anything.
    const hasEnded = this.primaryWord?.member !== primary || this.primaryLife !== this.world.life(primary);
    if (hasEnded) this.primaryWord = undefined;
    const database = DATABASES[which % 2] ?? 'even';
    for (const commit of this.acknowledged) if (databaseOf(commit) === database) this.forwarded.add(commit);
    const counter = this.#counters.find((one) => {
      if (which % 6 === 4) return one.server === undefined;
      return one.server?.member === primary && one.database === (which % 6 > 1 ? undefined : database);
    });
    if (counter === undefined) return;
    if (this.#weakness.countsLate === true) this.#uncounted = counter;
    else counter.toClientBytes += 1;
  }

  /** As for a read. */
  #count(which: number): void {
    const counter = this.#counters[which % this.#counters.length];
    if (counter !== undefined) counter.toClientBytes += 1;
  }

  #withoutReplicas(counter: Counter): ForwardedBytes {
    const isReplica = this.world.snapshot.members.get(counter.server?.member ?? '')?.status?.role === 'replica';
    const seen = this.#seen.get(counter) ?? { server: counter.server, toClientBytes: 0, ofReplica: 0 };
    if (isReplica) seen.ofReplica = counter.toClientBytes - seen.toClientBytes;
    seen.toClientBytes = counter.toClientBytes - seen.ofReplica;
    this.#seen.set(counter, seen);
    return seen;
  }

  readonly #seen = new Map<Counter, { server: AskedServer | undefined; toClientBytes: number; ofReplica: number }>();
}

function databaseOf({ transaction }: Commit): Database {
  return transaction % 2 === 0 ? 'even' : 'odd';
}

interface Story {
  readonly before: readonly Step[];
  /** From the session's connect to the read's arrival. */
  readonly connected: readonly Step[];
  readonly waiting: readonly Step[];
  readonly server: number;
}

function stories(...kinds: readonly number[]): fc.Arbitrary<Story> {
  const step = fc.tuple(fc.constantFrom(...kinds), fc.nat({ max: 11 }));
  const steps = (maxLength: number): fc.Arbitrary<readonly Step[]> => fc.array(step, { maxLength });
  return fc.record({ before: steps(40), connected: steps(24), waiting: steps(12), server: fc.nat({ max: 2 }) });
}

const ANY_STEPS = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, 15, 20, 20, 21, 21, 22, 23, 23, 24, 24, 25, 26, 26,
];
const ANY = stories(...ANY_STEPS);
const FAILOVERS = stories(9, 11, 13, 13, 14, 14, 15, 20, 20, 21, 22, 23, 23, 24, 24, 25, 26, 26);
const CALM = stories(14, 14, 15, 11, 13, 20, 21, 22, 23, 24, 24, 25, 26, 26);

/** All servers have everything, and a read has had its answer. */
const SETTLED: readonly Step[] = [
  ...[0, 1, 2].map((which): Step => [11, which]),
  [13, 0],
  [ARRIVE, 0],
  [ASK_PRIMARY, 0],
  ...[0, 1, 2].map((which): Step => [ASK_REPLICA, which]),
  [ANSWER_ALL, 0],
  [ARRIVE, 0],
];
const COMMITS: readonly Step[] = [
  [14, 0],
  [14, 0],
];

/** A primary has acknowledged something to a client, and a read comes at once. */
const WRITES = stories(14, 15, 24, 25, 26).chain((story) =>
  fc.constantFrom<Step>([FORWARD, 0], [FORWARD, 2], [FORWARD, 4]).map((forward): Story => ({
    ...story,
    connected: [...story.connected, ...SETTLED, ...COMMITS, forward],
    waiting: [],
  })),
);
/** The same at the next primary. */
const NEXT_WRITES = WRITES.map((story): Story => ({ ...story, before: [[9, 1], [13, 0], ...story.before], server: 2 }));
/** The primary has answered the newest question just before. */
const ANSWERED = stories(14, 15, 24, 25, 26).map((story): Story => {
  const asked: readonly Step[] = [
    [ASK_PRIMARY, 0],
    [ANSWER_ALL, 0],
  ];
  return { ...story, connected: [...story.connected, ...SETTLED, ...asked, ...COMMITS, [FORWARD, 0]], waiting: [] };
});
/** A session of a replica writes, because the replica has just been promoted. */
const PROMOTIONS = stories(14, 15, 24, 25, 26).map((story): Story => {
  const promoted: readonly Step[] = [
    [9, 1],
    [11, 2],
    [ASK_PRIMARY, 0],
    [ANSWER_ALL, 0],
  ];
  const written: readonly Step[] = [...COMMITS, [FORWARD, 0], [ARRIVE, 0], [13, 0], [ASK_REPLICA, 2], [ANSWER_ALL, 0]];
  return { ...story, connected: [...SETTLED, ...promoted, ...written], waiting: [], server: 2 };
});

/** Undefined: no yes. */
function missing({ before, connected, waiting, server }: Story, weakness: Weakness): readonly Commit[] | undefined {
  const asking = new ProcessWorld(weakness);
  const { world } = asking;
  const name = SERVERS[server % SERVERS.length] ?? 'pg-1';
  asking.take(before);
  const life = world.life(name);
  const connectedAt = asking.newest;
  asking.take(connected);
  const mustBeShown = [...asking.acknowledged.intersection(asking.forwarded)].filter(
    (commit) => databaseOf(commit) === 'even',
  );
  asking.lost.clear();
  const demand = asking.demand();
  const read = { server: asking.server(name), connected: connectedAt, arrived: demand.arrived };
  asking.take(waiting);
  if (world.life(name) !== life) return undefined;
  const proven = asking.proven();
  const isAtPrimary = proven?.member === name;
  const primary = isAtPrimary ? asking.lastPrimary(proven) : asking.wordFor(demand);
  const verdict = judge(world.snapshot, proven, read, { primary, replica: asking.words(name).replica });
  if (verdict.kind !== 'yes') return undefined;
  const shown = new Set(world.shows(name));
  const isKept = (commit: Commit): boolean => world.primary() !== undefined && !asking.lost.has(commit);
  return mustBeShown.filter((commit) => !shown.has(commit) && isKept(commit));
}

function holds(story: fc.Arbitrary<Story>, weakness: Weakness): fc.IProperty<[Story]> {
  return fc.property(story, (told) => {
    expect(missing(told, weakness) ?? []).toEqual([]);
  });
}

for (const [name, story] of [
  ['whatever happens', ANY],
  ['while the lock passes on again and again', FAILOVERS],
  ['while nothing but reads and writes happens', CALM],
  ['that comes right behind a write', WRITES],
  ['that comes right behind a write at the next primary', NEXT_WRITES],
  ['that comes right behind an answer and a write', ANSWERED],
  ['behind a write of a session whose replica was promoted', PROMOTIONS],
] as const) {
  test(`G26: a read of scope proxy shows all that was acknowledged through this process, ${name}`, () => {
    fc.assert(holds(story, {}), { numRuns: rounds(2000, 8000) });
  });
}

test('it needs no question while nothing is acknowledged to a client of its database', () => {
  const asked: readonly Step[] = [ASK_PRIMARY, ASK_REPLICA, ANSWER_ALL].map((kind): Step => [kind, 1]);
  const before: readonly Step[] = [[14, 0], [FORWARD, 0], [11, 1], [11, 2], [13, 0], [ARRIVE, 0], ...asked];
  const others = fc.array(fc.tuple(fc.constantFrom(13, 14, ARRIVE), fc.nat({ max: 11 })), { maxLength: 30 });
  fc.assert(
    fc.property(others, (connected) => {
      const found = missing({ before: [], connected: [...before, ...connected], waiting: [], server: 1 }, {});
      expect(found).toBeDefined();
    }),
    { numRuns: 300 },
  );
});

const WEAKNESSES: readonly (readonly [name: string, story: fc.Arbitrary<Story>, weakness: Weakness])[] = [
  [
    'a session without a known database',
    WRITES,
    { overlooks: ({ database, server }) => server !== undefined && !database },
  ],
  ['a session without a known server', WRITES, { overlooks: ({ server }) => server === undefined }],
  ['the next primary', NEXT_WRITES, { overlooks: ({ server }) => server !== undefined && server.member !== 'pg-1' }],
  ['an acknowledgement behind the newest question', ANSWERED, { trustsQuestions: true }],
  ['a byte that is counted behind the write', WRITES, { countsLate: true }],
  ['a replica that was promoted', PROMOTIONS, { forgetsReplicas: true }],
];

for (const [name, story, weakness] of WEAKNESSES) {
  test(`the property finds a rule that misses ${name}`, () => {
    const { failed } = fc.check(holds(story, weakness), { numRuns: 20_000, endOnFailure: true });
    expect(failed).toBe(true);
  });
}
