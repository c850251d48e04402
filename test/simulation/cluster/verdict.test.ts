// The verdict on histories with known faults: each of its answers can be other than none.
import { expect, it } from 'vitest';
import { ClientAccount, type WriteOutcome } from '../clients/client-account.ts';
import { Ledger, type Execution } from '../postgres/ledger.ts';
import { Wal, WalPool, type Change } from '../postgres/wal.ts';
import type { Lease } from './store.ts';
import { verdictOn } from './verdict.ts';

/** One cluster whose lock pg1 had until 1000, and pg2 since 2000. */
class Made {
  readonly ledger = new Ledger();
  readonly client: ClientAccount;
  readonly #pool = new WalPool();
  readonly logs = { pg1: new Wal(this.#pool), pg2: new Wal(this.#pool) };
  readonly leases: readonly Lease[] = [
    { holder: 'pg1', from: 0, until: 1_000, isReleased: false },
    { holder: 'pg2', from: 2_000, until: 9_000, isReleased: false },
  ];
  now = 0;
  #xid = 740;

  constructor() {
    this.client = new ClientAccount('c', () => this.now);
  }

  write(outcome: WriteOutcome, at: number, ...servers: readonly ('pg1' | 'pg2')[]): readonly Execution[] {
    this.now = at;
    const write = this.client.sends(1);
    const executions = servers.map((server) => this.run(server, { client: 'c', number: write.number }));
    this.client.told([write], outcome);
    return executions;
  }

  run(server: 'pg1' | 'pg2', change: Change): Execution {
    const execution = this.ledger.add({
      server,
      startedAt: 0,
      client: 'c',
      process: 1,
      at: this.now,
      timeline: 1,
      isInRecovery: false,
      sql: '',
      change,
    });
    execution.record = this.logs[server].append({ kind: 'commit', xid: (this.#xid += 1), changes: [change] });
    execution.confirmedAt = this.now;
    return execution;
  }

  verdict() {
    return verdictOn(this.logs.pg2, this.ledger, this.leases, [this.client]);
  }
}

it('finds nothing where all is well', () => {
  const made = new Made();
  made.write('acknowledged', 2_500, 'pg2');
  made.write('none', 2_500);
  made.write('unknown', 2_500, 'pg2');
  expect(made.verdict()).toEqual({
    losses: [],
    doubled: [],
    unexpected: [],
    recovered: ['c/3'],
    strays: [],
    missingMoney: 0,
  });
});

it('tells what replication lost from what a server without the lock confirmed, and from what nobody ran', () => {
  const made = new Made();
  made.write('acknowledged', 900, 'pg1');
  made.write('acknowledged', 1_300, 'pg1');
  made.write('acknowledged', 2_500);
  const [warned] = made.write('acknowledged', 900, 'pg1');
  if (warned !== undefined) warned.isLocalOnly = true;
  const [careless] = made.write('acknowledged', 900, 'pg1');
  if (careless !== undefined) careless.isDurable = false;
  const { losses, strays } = made.verdict();
  expect(losses.map(({ write, cause }) => [write.number, cause])).toEqual([
    [1, 'replication'],
    [2, 'stray'],
    [3, 'never_run'],
    [4, 'local_only'],
    [5, 'asynchronous_commit'],
  ]);
  expect(strays.map(({ execution, afterMs }) => [execution.change?.number, afterMs])).toEqual([[2, 300]]);
});

it('finds statements that ran twice, rows that nobody sent or that were refused, and money that is gone', () => {
  const made = new Made();
  made.write('acknowledged', 900, 'pg1', 'pg2');
  made.write('none', 2_500, 'pg2');
  made.run('pg2', { client: 'c', number: 99, transfer: { account: 1, amount: -30 } });
  const { doubled, unexpected, missingMoney } = made.verdict();
  expect([doubled, unexpected, missingMoney]).toEqual([['c/1'], ['c/2', 'c/99'], 30]);
});

it('finds a session that is shown less than before', () => {
  const made = new Made();
  made.write('acknowledged', 2_500, 'pg2');
  made.client.shows(1, new Set([1]));
  made.client.shows(2, new Set());
  expect(made.client.differences).toEqual([]);
  made.client.shows(1, new Set());
  expect(made.client.differences).toEqual(['session 1 at 2500.0 no longer shows 1']);
});
