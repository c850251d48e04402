// One way, one number of readers, one window: what readers and writers saw, what was asked, and what it cost.
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { familyOf, processorUs } from '../data-path/processes.ts';
import { type EndedReads, startReaders } from './price-readers.ts';
import type { Way } from './price-ways.ts';
import { type EndedWrites, Writers } from './price-writers.ts';

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
  readonly windowMs: number;
  readonly primary: Questions;
  /** All of them together. */
  readonly replicas: Questions;
  /** Processors that were busy. */
  readonly busy: { readonly primary: number; readonly pointsman: number };
}

export interface Questions {
  readonly count: number;
  /** The servers' sessions that answered them. Microseconds. */
  readonly processorUs: number;
}

/** From the first reads until the window. */
const SETTLE_MS = 300;

export async function measure(stage: PriceStage, { way, readers: count, writes, seconds }: Case): Promise<Measured> {
  const { cluster, pointsman, primary, directory } = stage;
  const write = await clientOf(stage, 'write');
  const read = await clientOf(stage, way.pool);
  const readers = startReaders({ to: { port: read.port, as: cluster.app }, readers: count, seconds, directory });
  const writers = await Writers.open({ write, read, commit: way.commit, perSecond: writes });
  try {
    await readers.reading();
    await delay(SETTLE_MS);
    const server = familyOf(await postmasterOf(cluster, primary.name));
    const proxy = familyOf(pointsman.pid);
    const askers = await askersOf(stage);
    const look = async () => ({ ...(await questionsOf(pointsman)), asking: askers.map(processorUs) });
    const before = await look();
    writers?.clear();
    const [serverUs, proxyUs] = [processorUs(server), processorUs(proxy)];
    const [fromMs, sinceMs] = [Date.now(), performance.now()];
    await delay(seconds * 1000);
    const windowMs = performance.now() - sinceMs;
    const busy = {
      primary: (processorUs(server) - serverUs) / 1000 / windowMs,
      pointsman: (processorUs(proxy) - proxyUs) / 1000 / windowMs,
    };
    const written = writers?.ended();
    const after = await look();
    const [asked = 0, polled = 0] = after.asking.map((us, at) => us - (before.asking[at] ?? us));
    return {
      reads: await readers.ended({ fromMs, untilMs: fromMs + windowMs }),
      writes: written,
      windowMs,
      primary: { count: after.primary - before.primary, processorUs: asked },
      replicas: { count: after.replica - before.replica, processorUs: polled },
      busy,
    };
  } finally {
    await writers?.stop();
  }
}

async function clientOf({ cluster, pointsman }: PriceStage, pool: string): Promise<ClientConfig & { port: number }> {
  return { host: '127.0.0.1', port: await pointsman.port(pool), ...cluster.app };
}

async function postmasterOf(cluster: PatroniCluster, member: string): Promise<number> {
  const [row] = await cluster.sql(member, `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int as pid`);
  return Number(row?.['pid']);
}

/** The processes of the servers' sessions that answer questions: of the primary, and of the replicas. */
async function askersOf({ cluster, primary, asker }: PriceStage): Promise<readonly (readonly number[])[]> {
  const at = async ({ name }: MemberAddress): Promise<readonly number[]> => {
    const rows = await cluster.sql(name, `select pid from pg_stat_activity where usename = '${asker}'`);
    return rows.map((row) => Number(row['pid']));
  };
  const replicas = cluster.members().filter(({ name }) => name !== primary.name);
  return [await at(primary), (await Promise.all(replicas.map(at))).flat()];
}

/** That were answered so far, nudges among them. */
async function questionsOf(
  pointsman: PointsmanProcess,
): Promise<{ readonly primary: number; readonly replica: number }> {
  const { text } = await pointsman.admin('/metrics');
  const answered = (kinds: string): number => {
    const samples = text.matchAll(
      new RegExp(`^pointsman_position_questions_total{.*kind="(?:${kinds})".*} (\\d+)$`, 'gm'),
    );
    return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return { primary: answered('primary|nudge'), replica: answered('replica') };
}
