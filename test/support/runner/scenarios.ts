// Every scenario and every guarantee that a test must name in its title (`scenario 7: …`, `scenarios 10, 11: …`,
// `G4: …`), each in a phrase. scenarios.test.ts holds the titles to this list.

interface Scenario {
  readonly phrase: string;
  /** It must be seen on a real Patroni too. */
  readonly onPatroni: boolean;
  /** Not demanded yet: a test that names it is welcome. */
  readonly isLater: boolean;
}

type Phrases = Readonly<Record<number, string>>;

const HERE: Phrases = {
  2: 'a cold start before a dead cluster: not ready, clients are refused after their hold',
  4: 'a promotion that takes long: held until the role flips',
  7: 'a black hole: sessions end when another primary is proven, or by the grace',
  9: 'two members say yes: the higher timeline, or nobody',
  14: 'three members flap at every probe',
  15: 'a standby cluster, until it is promoted',
  16: 'members of 3.x and 4.x together',
  17: 'both dialects of the management API',
  18: 'lag for one tick, lag for several',
  19: 'a lag that is no number',
  21: 'streaming, running, in archive recovery',
  26: 'a replica returns: slow start, and counts that even out',
  28: 'an address that changes, an address that was reused',
  31: 'every way to begin a conversation, by answers of PostgreSQL itself',
  32: 'plaintext behind a request for encryption',
  33: 'startup packets of every length and pace',
  34: 'HTTP to the database port, startup bytes to the admin port, probes',
  36: 'half-closes and resets with bytes in flight',
  37: 'a slow reader, and slices of one byte',
  38: 'refusals of the backend itself',
  39: 'SIGTERM and SIGHUP under load',
  40: 'kill -9 under load, and a restart',
  41: 'faults of our own machine',
  42: 'five thousand clients reconnect',
};

const ON_PATRONI_TOO: Phrases = {
  1: 'a cold start: nothing before the first round, then the primary',
  3: 'a planned switchover',
  5: 'a PostgreSQL that stops, starts or crashed in place',
  6: "the primary's host dies",
  8: 'a frozen management API',
  10: 'the store is down',
  11: 'the store is down in failsafe mode',
  12: '/cluster hangs and closes empty',
  13: 'pause on and off',
  20: 'an isolated replica with a stale view',
  22: 'noloadbalance at run time',
  23: 'a tag filter that nobody matches',
  24: 'all replicas gone, with and without a fallback',
  25: 'a replica is killed under live reads',
  27: 'a member joins, a member vanishes',
  29: 'sync, async and quorum pools',
  30: 'what clients do, byte for byte',
  35: 'cancel requests',
};

const LATER: Phrases = {
  43: 'a blocked log pipe, a scraper that hangs',
  44: 'a hostile /cluster',
  45: 'answers of the API that are none',
  46: 'DNS that fails, hangs or changes',
  47: 'certificates that rotate',
  48: 'five hundred proxies before one member',
};

const DEMANDED_GUARANTEES: Phrases = {
  1: 'at most one write target',
  2: 'write sessions only on fresh positive evidence',
  3: 'negative evidence ends write sessions in its step, and no byte follows',
  4: 'silence ends them by the grace',
  5: "reads on known, bounded, fresh lag on the primary's timeline",
  6: 'degraded reads by policy only, and capped',
  7: 'each direction is a prefix-exact copy',
  8: 'no client byte is replayed or fanned out',
  9: 'a refused client gets an error it can parse',
  10: 'nobody waits longer than the bounds',
  11: 'sockets, memory and timers are bounded',
  12: 'a local fault is nobody else’s',
  13: 'nothing is routed before the first complete round',
  14: 'a graceful stop',
  15: 'an atomic reload',
  16: 'crash-only: kill and restart need no state',
  17: 'a cancel reaches its own session only',
  20: 'no flapping, no stampede',
  21: 'status, metrics and routing agree',
  22: 'a switchover lets everybody go',
  23: 'branches stay apart from the cluster',
  24: 'a moved session loses no state silently',
  25: 'only a verified server gets a byte, and judges each login',
  26: 'causal reads see every acknowledged write',
};

const LATER_GUARANTEES: Phrases = {
  18: 'no byte crosses the TLS boundary',
  19: 'contact with allowed addresses only',
};

/** Entries that no test names yet. The list only shrinks: an entry that a test does name fails. */
export const NOT_YET: readonly string[] = [];

export const SCENARIOS: ReadonlyMap<number, Scenario> = new Map(
  [
    ...entries(HERE, { onPatroni: false, isLater: false }),
    ...entries(ON_PATRONI_TOO, { onPatroni: true, isLater: false }),
    ...entries(LATER, { onPatroni: false, isLater: true }),
  ].toSorted(([a], [b]) => a - b),
);

export const GUARANTEES: ReadonlyMap<number, Scenario> = new Map(
  [
    ...entries(DEMANDED_GUARANTEES, { onPatroni: false, isLater: false }),
    ...entries(LATER_GUARANTEES, { onPatroni: false, isLater: true }),
  ].toSorted(([a], [b]) => a - b),
);

function entries(phrases: Phrases, facts: Omit<Scenario, 'phrase'>): readonly (readonly [number, Scenario])[] {
  return Object.entries(phrases).map(([number, phrase]) => [Number(number), { phrase, ...facts }]);
}
