// The judgement of a history: figures, and one law after the other with its answer. Pure.
import {
  type Client,
  type Executed,
  type History,
  keyOf,
  type Sight,
  type StoredWrite,
  type Write,
} from '../history.ts';
import { type OddAnswer, oddAnswers, repeatedIn } from './answers.ts';
import { type Bounds, type FenceReport, judgeFence } from './fence.ts';
import { type Loss, lossesOf } from './losses.ts';
import { judgeSights, type SightReport } from './sights.ts';

export interface Expectation {
  readonly isSynchronous: boolean;
  /** Over all accounts, at every moment. */
  readonly sum: number;
  readonly bounds: Bounds;
}

export interface Law {
  readonly name: string;
  readonly faults: number;
  /** A sentence with the figures. */
  readonly said: string;
}

export interface Counts {
  readonly sent: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly unknown: number;
  /** Unknown to the client, and there. */
  readonly recovered: number;
}

export interface Judgement {
  readonly counts: Counts;
  readonly byApplication: ReadonlyMap<string, Counts>;
  readonly losses: readonly Loss[];
  readonly doubled: readonly StoredWrite[];
  /** Executed once more, by the logs of the servers, whether the rows are there or not. */
  readonly repeated: readonly Executed[];
  readonly oddAnswers: readonly OddAnswer[];
  /** There, although nobody sent them, or although they cannot have been committed. */
  readonly unexpected: readonly StoredWrite[];
  readonly sights: SightReport;
  readonly fence: FenceReport;
  /** Clients that had nothing acknowledged after all faults had ended. */
  readonly stuck: readonly Client[];
  /** Ports of which nobody had a read after that. */
  readonly silentPorts: readonly Sight['port'][];
  readonly laws: readonly Law[];
}

export function judge(history: History, expected: Expectation): Judgement {
  const { writes, ending } = history;
  const sent = new Map(writes.map((write) => [keyOf(write), write]));
  const stored = new Map(ending.stored.map((one) => [keyOf(one), one]));
  const judged = {
    counts: countsOf(writes, stored),
    byApplication: byApplication(history, stored),
    losses: lossesOf(writes, history),
    doubled: ending.stored.filter(({ copies }) => copies > 1),
    repeated: repeatedIn(history.executed),
    oddAnswers: oddAnswers(writes, history.executed, history.commits),
    unexpected: ending.stored.filter((one) => !mayBeThere(sent.get(keyOf(one)), one)),
    sights: judgeSights(history.sights, expected.sum),
    fence: judgeFence(history, expected.bounds),
    stuck: history.clients.filter(({ id }) => isStuck(id, history)),
    silentPorts: silentPorts(history),
  };
  return { ...judged, laws: lawsOf(judged, history, expected) };
}

function countsOf(writes: readonly Write[], stored: ReadonlyMap<string, StoredWrite>): Counts {
  const having = (outcome: Write['outcome']) => writes.filter((write) => write.outcome === outcome);
  const unknown = having('unknown');
  return {
    sent: writes.length,
    acknowledged: having('acknowledged').length,
    refused: having('refused').length,
    unknown: unknown.length,
    recovered: unknown.filter((write) => stored.has(keyOf(write))).length,
  };
}

function byApplication(
  { clients, writes }: History,
  stored: ReadonlyMap<string, StoredWrite>,
): ReadonlyMap<string, Counts> {
  const names = [...new Set(clients.map(({ application }) => application))];
  const nameOf = new Map(clients.map(({ id, application }) => [id, application]));
  return new Map(
    names.map((name) => [
      name,
      countsOf(
        writes.filter(({ client }) => nameOf.get(client) === name),
        stored,
      ),
    ]),
  );
}

function mayBeThere(write: Write | undefined, { kind }: StoredWrite): boolean {
  return write !== undefined && write.kind === kind && write.outcome !== 'refused';
}

function isStuck(id: number, { writes, ending }: History): boolean {
  return !writes.some(
    ({ client, outcome, endedAtMs }) =>
      client === id && outcome === 'acknowledged' && endedAtMs >= ending.healedAtMs && endedAtMs <= ending.stoppedAtMs,
  );
}

function silentPorts({ sights, ending }: History): readonly Sight['port'][] {
  const reads = sights.filter(({ sum }) => sum !== undefined);
  const served = new Set(reads.filter(({ atMs }) => atMs >= ending.healedAtMs).map(({ port }) => port));
  return [...new Set(reads.map(({ port }) => port))].filter((port) => !served.has(port));
}

function lawsOf(judged: Omit<Judgement, 'laws'>, history: History, expected: Expectation): readonly Law[] {
  const { losses, doubled, repeated, unexpected, sights, fence, stuck, counts } = judged;
  const { ending } = history;
  const givenUp = losses.filter(({ cause }) => cause === 'timeline given up' || cause === 'lock taken back').length;
  const takenBack = losses.filter(({ cause }) => cause === 'lock taken back').length;
  const unexplained = losses.filter(({ cause }) => cause === 'unexplained').length;
  const beyond = new Set(fence.beyond.map(({ executed }) => keyOf(executed)));
  const byPointsman = losses.filter(({ write }) => beyond.has(keyOf(write))).length;
  const disagreeing = new Set(ending.copies.values()).size - 1;
  return [
    expected.isSynchronous
      ? {
          name: 'Nothing that was acknowledged is lost',
          faults: losses.length - takenBack,
          said:
            `${losses.length} of ${counts.acknowledged} acknowledged writes are not there at the end; ` +
            `Patroni gave up ${takenBack} of them with their whole timeline, by its own log`,
        }
      : {
          name: 'Nothing is lost by Pointsman',
          faults: unexplained + byPointsman,
          said:
            `${losses.length} of ${counts.acknowledged} acknowledged writes are not there at the end: ` +
            `${losses.length - unexplained - byPointsman} lost by asynchronous replication, with proof ` +
            `(${givenUp} with their whole timeline); ` +
            `${byPointsman} sent to an old primary after the bound; ${unexplained} unexplained`,
        },
    {
      name: 'Nothing is there or was executed twice',
      faults: doubled.length + repeated.length,
      said: `${doubled.length} writes have several copies, ${repeated.length} of ${fence.executed} were executed again`,
    },
    {
      name: 'Every success is in the log of its server',
      faults: judged.oddAnswers.length,
      said: `${judged.oddAnswers.length} of ${counts.acknowledged} have another answer, or no line or COMMIT there`,
    },
    {
      name: 'Nothing is there that should not be',
      faults: unexpected.length,
      said: `${unexpected.length} writes are there that were never sent, or that a client saw fail for certain`,
    },
    {
      name: 'The sum of the accounts stays',
      faults: sights.wrongSums.length + ending.wrongBalances + (ending.sum === expected.sum ? 0 : 1),
      said:
        `${sights.wrongSums.length} of ${sights.reads} reads saw another sum; at the end it is ${ending.sum} of ` +
        `${expected.sum}, and ${ending.wrongBalances} balances differ from their transfers`,
    },
    {
      name: 'No session sees something older than before',
      faults: sights.stepsBack.length,
      said: `${sights.stepsBack.length} steps back in ${sights.sessions} sessions`,
    },
    {
      name: 'Nothing is written or read at an old primary after the bound',
      faults: fence.beyond.length + fence.staleLooks.length,
      said:
        `${fence.executed} writes in the logs of the servers; ${fence.late.length} of them after a promotion ` +
        `elsewhere had begun, ${fence.beyond.length} after the bound; ` +
        `${fence.staleLooks.length} reads through the write port after it`,
    },
    {
      name: 'Every client is served again when the faults have ended',
      faults: stuck.length + judged.silentPorts.length,
      said:
        `${stuck.length} of ${history.clients.length} clients had nothing acknowledged, ` +
        `${judged.silentPorts.length} ports had no read`,
    },
    {
      name: 'All members have the same rows at the end',
      faults: disagreeing,
      said: `${ending.copies.size} members, ${disagreeing} that differ`,
    },
  ];
}

export function isHeld(laws: readonly Law[]): boolean {
  return laws.every(({ faults }) => faults === 0);
}
