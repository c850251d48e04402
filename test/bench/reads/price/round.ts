// One way, one number of readers, one window: what readers and writers saw, what was asked, and what it cost.
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
import type { PatroniCluster } from '../../../support/patroni/cluster.ts';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { PointsmanProcess } from '../../../support/processes/pointsman-process.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';
import { familyOf, processorUs } from '../../data-path/processes.ts';
import { type EndedReads, startReaders } from './readers.ts';
import type { Way } from './ways.ts';
import { type EndedWrites, Writers } from './writers.ts';

export interface PriceStage {
  readonly cluster: PatroniCluster;
  readonly pointsman: PointsmanProcess;
  readonly primary: MemberAddress;
  /** For files of the readers. */
  readonly directory: string;
  /** The role that asks for positions. */
  readonly asker: string;
}

export interface Case {
  readonly way: Way;
  readonly readers: number;
  /** In a second. */
  readonly writes: number;
  /** The length of the window. */
  readonly seconds: number;
}

export interface Measured {
  readonly reads: EndedReads;
  /** Undefined: nobody wrote. */
  readonly writes: EndedWrites | undefined;
  /** Undefined: the way asks none. */
  readonly questions: { readonly primary: Questions; readonly replicas: Questions } | undefined;
  /** Processors that were busy. */
  readonly busy: { readonly primary: number; readonly pointsman: number };
}

export interface Questions {
  readonly count: number;
  /** They were asked within this time. */
  readonly seconds: number;
  /** The servers' sessions that answered them. Microseconds. */
  readonly processorUs: number;
}

/** From the first reads until the window. */
const SETTLE_MS = 300;

/** Pointsman has counted nothing for so long: it asks nothing. */
const NONE_MS = 2_500;

/** A connect waits for a processor among many readers. */
const SQL = { timeoutMs: 20_000 };

export async function measure(stage: PriceStage, { way, readers: count, writes, seconds }: Case): Promise<Measured> {
  const { cluster, pointsman, primary, directory } = stage;
  const write = await clientOf(stage, 'write');
  const read = await clientOf(stage, way.pool);
  const readers = startReaders({ to: { port: read.port, as: cluster.app }, readers: count, directory });
  const writers = await Writers.open({ write, read, commit: way.commit, perSecond: writes });
  try {
    await readers.reading();
    await delay(SETTLE_MS);
    const server = familyOf(await postmasterOf(cluster, primary.name));
    const proxy = familyOf(pointsman.pid);
    const askers = await askersOf(stage);
    const report = way.pool === 'gated' ? () => nextReport(pointsman, askers) : () => undefined;
    const before = await report();
    writers?.clear();
    const [primaryBusy, pointsmanBusy] = [watch(server), watch(proxy)];
    const [fromMs, sinceMs] = [Date.now(), performance.now()];
    await delay(seconds * 1000);
    const windowMs = performance.now() - sinceMs;
    const busy = { primary: primaryBusy(), pointsman: pointsmanBusy() };
    const written = writers?.ended();
    const after = await report();
    return {
      reads: await readers.end({ fromMs, untilMs: fromMs + windowMs }),
      writes: written,
      questions: before && after && between(before, after),
      busy,
    };
  } finally {
    await writers?.stop();
  }
}

/** Returns how many processors they have kept busy since. */
function watch(pids: readonly number[]): () => number {
  const each = (): readonly number[] => pids.map((pid) => processorUs([pid]));
  const [before, sinceMs] = [each(), performance.now()];
  // A process that has ended has no time any more.
  const spent = (us: number, at: number): number => Math.max(0, us - (before[at] ?? us));
  return () => sum(each().map(spent)) / 1000 / (performance.now() - sinceMs);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

async function clientOf({ cluster, pointsman }: PriceStage, pool: string): Promise<ClientConfig & { port: number }> {
  return { host: '127.0.0.1', port: await pointsman.port(pool), ...cluster.app };
}

async function postmasterOf(cluster: PatroniCluster, member: string): Promise<number> {
  const text = `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int as pid`;
  const [row] = await cluster.sql(member, text, SQL);
  return Number(row?.['pid']);
}

/** The processes of the servers' sessions that answer questions: of the primary, and of the replicas. */
async function askersOf({ cluster, primary, asker }: PriceStage): Promise<readonly (readonly number[])[]> {
  const at = async ({ name }: MemberAddress): Promise<readonly number[]> => {
    const rows = await cluster.sql(name, `select pid from pg_stat_activity where usename = '${asker}'`, SQL);
    return rows.map((row) => Number(row['pid']));
  };
  const replicas = cluster.members().filter(({ name }) => name !== primary.name);
  return [await at(primary), (await Promise.all(replicas.map(at))).flat()];
}

interface QuestionCounts {
  readonly atMs: number;
  readonly primary: number;
  readonly replicas: number;
  /** The processor time of the primary's session that answers, and of those of the replicas. */
  readonly askedUs: readonly number[];
}

function between(before: QuestionCounts, after: QuestionCounts): Measured['questions'] {
  const seconds = (after.atMs - before.atMs) / 1000;
  const [primaryUs = 0, replicasUs = 0] = after.askedUs.map((us, at) => us - (before.askedUs[at] ?? us));
  return {
    primary: { count: after.primary - before.primary, seconds, processorUs: primaryUs },
    replicas: { count: after.replicas - before.replicas, seconds, processorUs: replicasUs },
  };
}

/** Pointsman counts questions once in a second: a window of its own begins and ends when it has just done so. */
async function nextReport(
  pointsman: PointsmanProcess,
  askers: readonly (readonly number[])[],
): Promise<QuestionCounts> {
  const [first, sinceMs] = [await questionsOf(pointsman), performance.now()];
  const next = async (): Promise<QuestionCounts | false> => {
    const counts = await questionsOf(pointsman);
    // None may be asked in this window.
    const isDue = counts.primary > first.primary || performance.now() > sinceMs + NONE_MS;
    return isDue && { ...counts, atMs: performance.now(), askedUs: askers.map(processorUs) };
  };
  return waitUntil('a count of questions', next, { timeoutMs: 20_000, everyMs: 50 });
}

/** The answered ones so far, nudges among them. */
async function questionsOf(pointsman: PointsmanProcess): Promise<Pick<QuestionCounts, 'primary' | 'replicas'>> {
  const { text } = await pointsman.admin('/metrics');
  const answered = (kinds: string): number => {
    const samples = text.matchAll(
      new RegExp(`^pointsman_position_questions_total{.*kind="(?:${kinds})".*} (\\d+)$`, 'gm'),
    );
    return sum([...samples].map(([, value]) => Number(value)));
  };
  return { primary: answered('primary|nudge'), replicas: answered('replica') };
}
