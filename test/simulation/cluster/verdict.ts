// The truth about a cluster when its faults are over: which history has survived, what became of each write that a
// client was told of, which statements ran twice, and which ran at a server without the leader lock.
import type { ClientAccount, ClientWrite } from '../clients/client-account.ts';
import { OPENING_BALANCE, ACCOUNTS, databaseOf } from '../postgres/database.ts';
import type { Execution, Ledger } from '../postgres/ledger.ts';
import type { Wal } from '../postgres/wal.ts';
import type { Lease } from './store.ts';

/**
 * Why a confirmed write is not in the surviving history. `replication`: a primary with the lock had confirmed it before
 * the next timeline began, and the next primary had not received it. `local_only`: the server had warned its client.
 * `asynchronous_commit`: its session had wanted no safety.
 * `stray`: its server confirmed it without the lock. `never_run`: no server has committed it, so somebody else said so.
 */
export type LossCause = 'replication' | 'local_only' | 'asynchronous_commit' | 'stray' | 'never_run';

export interface Loss {
  readonly client: string;
  readonly write: ClientWrite;
  readonly cause: LossCause;
  readonly execution: Execution | undefined;
}

/** A statement that ran at a server without the leader lock. */
export interface Stray {
  readonly execution: Execution;
  /** Since the server's last lease ended. Infinity: it never had the lock. Milliseconds. */
  readonly afterMs: number;
}

export interface Verdict {
  readonly losses: readonly Loss[];
  /** `client/number` */
  readonly doubled: readonly string[];
  /** Rows that no client has sent, or whose client was told that they are not there. */
  readonly unexpected: readonly string[];
  /** Their result was unknown to their clients, and they are there. */
  readonly recovered: readonly string[];
  /** Writes, also such as were rolled back later. */
  readonly strays: readonly Stray[];
  /** The sum of all accounts is not what it was. */
  readonly missingMoney: number;
}

/** `survivor`: the log of the primary at the end. */
export function verdictOn(
  survivor: Wal,
  ledger: Ledger,
  leases: readonly Lease[],
  clients: readonly ClientAccount[],
): Verdict {
  const database = databaseOf(survivor.records());
  const byWrite = Map.groupBy(ledger.writes(), ({ change }) => `${change?.client}/${change?.number}`);
  const rows = new Map(clients.map(({ name }) => [name, database.numbers(name)] as const));
  const losses: Loss[] = [];
  const unexpected: string[] = [];
  const recovered: string[] = [];
  for (const { name, writes } of clients) {
    const there = new Set(rows.get(name));
    for (const write of writes) {
      const isThere = there.delete(write.number);
      if (write.outcome === 'acknowledged' && !isThere) {
        losses.push(lossOf(name, write, byWrite.get(`${name}/${write.number}`) ?? [], leases));
      }
      if (isThere && write.outcome === 'none') unexpected.push(`${name}/${write.number}`);
      if (isThere && write.outcome === 'unknown') recovered.push(`${name}/${write.number}`);
    }
    unexpected.push(...[...there].map((number) => `${name}/${number}`));
  }
  const sum = [...database.balances().values()].reduce((total, balance) => total + balance, 0);
  return {
    losses,
    doubled: doubledIn(byWrite),
    unexpected,
    recovered,
    strays: straysIn(ledger.writes(), leases),
    missingMoney: ACCOUNTS.length * OPENING_BALANCE - sum,
  };
}

/** A statement that ran again, also where the first run was lost or rolled back. */
function doubledIn(byWrite: ReadonlyMap<string, readonly Execution[]>): readonly string[] {
  return [...byWrite].filter(([, executions]) => executions.length > 1).map(([write]) => write);
}

export function straysIn(executions: readonly Execution[], leases: readonly Lease[]): readonly Stray[] {
  return executions
    .map((execution) => ({ execution, afterMs: withoutLockFor(execution.server, execution.at, leases) }))
    .filter(({ afterMs }) => afterMs > 0);
}

/** 0: the server's member had the lock then. */
export function withoutLockFor(server: string, at: number, leases: readonly Lease[]): number {
  const own = leases.filter(({ holder, from }) => holder === server && from <= at);
  const end = Math.max(-Infinity, ...own.map(({ until }) => until));
  return Math.max(0, at - end);
}

function lossOf(client: string, write: ClientWrite, executions: readonly Execution[], leases: readonly Lease[]): Loss {
  const execution = executions.find(({ record }) => record !== undefined);
  const cause = ((): LossCause => {
    if (execution === undefined) return 'never_run';
    if (write.isLocalOnly || execution.isLocalOnly) return 'local_only';
    if (!execution.isDurable) return 'asynchronous_commit';
    const confirmedAt = execution.confirmedAt ?? write.toldAt ?? execution.at;
    return withoutLockFor(execution.server, confirmedAt, leases) === 0 ? 'replication' : 'stray';
  })();
  return { client, write, cause, execution };
}
