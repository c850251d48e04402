// `npm run bench:probing`: the processor time of one probe of every member and of the decision, by members and pools,
// and by live sessions. The members run in another process.
import { observe } from '../../src/core/observe.ts';
import { nextCheck } from '../../src/core/next-check.ts';
import { decideRoutes } from '../../src/core/decide-routes.ts';
import { planActions } from '../../src/core/actions.ts';
import type { Member } from '../../src/model/member.ts';
import type { RoutingPolicy } from '../../src/model/policy.ts';
import { emptySnapshot } from '../../src/core/snapshot.ts';
import type { Snapshot } from '../../src/core/snapshot.ts';
import { createProbe } from '../../src/patroni/probe.ts';
import { Drains } from '../../src/proxy/ending/drains.ts';
import { evict } from '../../src/proxy/ending/evict.ts';
import type { SessionRegistry } from '../../src/proxy/session-registry.ts';
import { systemClock } from '../support/waiting/system-clock.ts';
import { median } from '../support/values/median.ts';
import { readNumbers } from './numbers.ts';
import { poolsOf, sessionsOn, startMembers } from './probing/cluster.ts';

const MEMBERS = [3, 10, 50, 100];
const POOLS = [1, 20];
const SESSIONS = [0, 10_000, 20_000];
/** Probes and decisions in each round: enough for the resolution of the processor clock. */
const { rounds: ROUNDS, each: EACH } = readNumbers({ rounds: 5, each: 300 });
const DEADLINE_MS = 5_000;

const NOT_SOUGHT: ReadonlySet<string> = new Set();
const probe = createProbe();

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Sends every check that is still open to every member, one in flight for each, as the prober does. */
async function askOnce(policy: RoutingPolicy, members: readonly Member[], from: Snapshot): Promise<[Snapshot, number]> {
  let snapshot = from;
  let requests = 0;
  const roundAt = systemClock.now();
  const ask = async ({ name }: Member): Promise<void> => {
    for (;;) {
      const record = snapshot.members.get(name);
      const check = record === undefined ? undefined : nextCheck(policy, record, roundAt, NOT_SOUGHT);
      if (record === undefined || check === undefined) return;
      const startedAt = systemClock.now();
      const outcome = await probe(record.member, check, DEADLINE_MS);
      if (outcome.kind !== 'answered') throw new Error(`${name} did not answer: ${JSON.stringify(outcome)}`);
      requests += 1;
      snapshot = observe(policy, snapshot, { kind: 'probe', member: name, check: check.text, startedAt, outcome });
    }
  };
  await Promise.all(members.map(ask));
  return [snapshot, requests];
}

interface Asked {
  readonly snapshot: Snapshot;
  /** Processor time of one round in microseconds. */
  readonly roundUs: number;
  readonly requests: number;
}

async function probing(policy: RoutingPolicy, members: readonly Member[]): Promise<Asked> {
  const list = { kind: 'members', startedAt: systemClock.now(), members } as const;
  let [snapshot, requests] = await askOnce(policy, members, observe(policy, emptySnapshot(undefined), list));
  const times = Math.max(1, Math.round(EACH / requests));
  const figures: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = cpuUs();
    for (let time = 0; time < times; time += 1) [snapshot, requests] = await askOnce(policy, members, snapshot);
    figures.push((cpuUs() - before) / times);
  }
  return { snapshot, roundUs: median(figures), requests };
}

/** The decision and its effect on live sessions. It changes nothing, which is the usual case. */
function deciding(policy: RoutingPolicy, snapshot: Snapshot, registry: SessionRegistry): number {
  let table = decideRoutes(policy, snapshot, systemClock.now());
  const drains = new Drains({ clock: systemClock, decideIfDue: () => {}, perSecond: 50 });
  const inputs = {
    drains,
    registry,
    table: () => table,
    clock: systemClock,
    drainTimeoutMs: () => 0,
    moves: () => undefined,
  };
  const figures: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = cpuUs();
    for (let time = 0; time < EACH; time += 1) {
      const next = decideRoutes(policy, snapshot, systemClock.now());
      evict(planActions(policy, table, next), inputs);
      table = next;
    }
    // The first round warms up.
    if (round > 0) figures.push((cpuUs() - before) / EACH);
  }
  return median(figures);
}

const cells = (...columns: readonly (string | number)[]): string => `| ${columns.join(' | ')} |`;
const rows = [
  cells(
    'members',
    'pools',
    'requests a round',
    'a round, ms',
    'a request, µs',
    ...SESSIONS.map((n) => `a decision with ${n} sessions, µs`),
  ),
  cells(...Array.from({ length: 5 + SESSIONS.length }, () => '---')),
];
for (const memberCount of MEMBERS) {
  await using cluster = await startMembers(memberCount);
  for (const poolCount of POOLS) {
    const policy = poolsOf(poolCount);
    const { snapshot, roundUs, requests } = await probing(policy, cluster.members);
    const decisions = SESSIONS.map((count) => deciding(policy, snapshot, sessionsOn(policy, cluster.members, count)));
    rows.push(
      cells(
        memberCount,
        poolCount,
        requests,
        (roundUs / 1000).toFixed(2),
        Math.round(roundUs / requests),
        ...decisions.map((us) => us.toFixed(1)),
      ),
    );
  }
}
process.stdout.write(`${rows.join('\n')}\n`);
