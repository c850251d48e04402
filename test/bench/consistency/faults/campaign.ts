// Plays the faults one after the other until the time is over, takes each back, and brings the cluster together again.
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultRecord } from '../history.ts';
import { BEGIN, type Running, type Stage } from './kinds.ts';
import type { PlannedFault } from './plan.ts';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import { serverName } from '../../../support/clusters/server-name.ts';

/** A rewind and a base backup on a busy machine. */
const HEALTHY_MS = 40_000;
const MOST_REPAIRS = 4;

export interface Campaign {
  readonly stage: Stage;
  readonly plan: Iterable<PlannedFault>;
  /** No fault begins after it. */
  readonly untilMs: number;
  readonly tell: (line: string) => void;
}

/** Resolves with what was done, when the cluster is healthy. */
export async function playFaults({ stage, plan, untilMs, tell }: Campaign): Promise<readonly FaultRecord[]> {
  const records: FaultRecord[] = [];
  for (const fault of plan) {
    if (Date.now() >= untilMs) break;
    await delay(fault.afterMs);
    if (fault.isPatient) records.push(...(await bringTogether(stage, tell)));
    const record = await playFault(stage, fault);
    const { kind, on, fromMs, toMs, note } = record;
    tell([`${kind} on ${on}, ${toMs - fromMs} ms`, ...(note === undefined ? [] : [note])].join(': '));
    records.push(record);
  }
  return [...records, ...(await bringTogether(stage, tell))];
}

async function playFault(stage: Stage, fault: PlannedFault): Promise<FaultRecord> {
  const fromMs = Date.now();
  let running: Running | undefined;
  let note: string | undefined;
  try {
    running = await BEGIN[fault.kind](stage, fault);
    // An operation that is over takes no further time.
    await delay(isOver(fault) ? 0 : fault.lastsMs);
    await running.end();
  } catch (error) {
    note = firstLine(error);
  }
  const { on = 'nothing', hidden = [] } = running ?? {};
  const servers = stage.cluster.members().filter(({ name }) => hidden.includes(name));
  const blind = running?.blind?.();
  return { kind: fault.kind, on, fromMs, toMs: Date.now(), note, hidden: servers.map(serverName), blind };
}

function isOver({ kind }: PlannedFault): boolean {
  return ['switchover', 'restart', 'replacement', 'kill of Pointsman'].some((begun) => kind.startsWith(begun));
}

const STANDBY = 'a synchronous standby';

/** Every replica streams from the one primary, and a synchronous cluster has a synchronous standby. */
async function isWhole({ cluster, isSynchronous }: Stage): Promise<void> {
  await cluster.waitUntilHealthy(HEALTHY_MS);
  if (!isSynchronous) return;
  const hasStandby = async (): Promise<boolean> =>
    (await cluster.clusterDocument())?.members.some(({ role }) => role === 'sync_standby') ?? false;
  await cluster.waitUntil(STANDBY, hasStandby, HEALTHY_MS);
}

/** Waits for the cluster; a member that does not come back by itself is killed and started, as an operator does. */
async function bringTogether(stage: Stage, tell: Campaign['tell']): Promise<readonly FaultRecord[]> {
  const { cluster } = stage;
  const fromMs = Date.now();
  const repaired: string[] = [];
  const repair = async (name: string, why: string): Promise<void> => {
    tell(`${name} is started anew: ${why}`);
    repaired.push(name);
    await cluster.kill(name).catch(() => undefined);
    await cluster.launch(name);
  };
  /** Copied from the primary once more: it has a timeline that the primary does not have. */
  const copyAnew = async ({ name, api }: MemberAddress, why: string): Promise<void> => {
    tell(`${name} is copied anew: ${why}`);
    repaired.push(name);
    const body = JSON.stringify({ force: true });
    await fetch(`${api}/reinitialize`, { method: 'POST', body }).catch(() => undefined);
  };
  for (let attempt = 0; attempt < MOST_REPAIRS; attempt += 1) {
    for (const { name } of cluster.members()) if (!cluster.isRunning(name)) await repair(name, 'its Patroni ended');
    const why = await isWhole(stage).then(
      () => undefined,
      (error: unknown) => firstLine(error, 2),
    );
    if (why === undefined) break;
    if (why.startsWith(STANDBY) || why.includes('no member answers as primary')) {
      // A Patroni 3.0.2 that was frozen finds for ever that another member has written its /sync key. One whose
      // PostgreSQL has failed to start may keep the lock and try nothing.
      const leader = (await cluster.clusterDocument())?.members.find(({ role }) => role === 'leader');
      if (leader !== undefined) await repair(leader.name, why);
      continue;
    }
    const named = /last error: (\S+) is /.exec(why)?.[1];
    const member = cluster.members().find(({ name }) => name === named) ?? cluster.members()[attempt % 3];
    if (member === undefined) continue;
    await (attempt === 0 ? repair(member.name, why) : copyAnew(member, why));
  }
  if (repaired.length === 0) return [];
  const note = 'it did not come back by itself';
  return [{ kind: 'repair', on: repaired.join(', '), fromMs, toMs: Date.now(), note, hidden: [], blind: undefined }];
}

function firstLine(error: unknown, lines = 1): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n').slice(0, lines).join(' ').slice(0, 200);
}
