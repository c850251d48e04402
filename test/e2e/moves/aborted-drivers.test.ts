// Every driver in an open transaction that a move rolls back (`pointsman sessions move ID --abort`), at each place that
// a transaction can be in. The driver's own idea of its transaction is right before and behind the ROLLBACK.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnSandbox } from '../../support/clusters/describe-on-clusters.ts';
import { type DrivenSession, failureOf, type RunningProgram } from '../../support/moves/driven-session.ts';
import { lostSessions } from '../../support/moves/expect-kept.ts';
import { findSession, move } from '../../support/moves/move.ts';
import { type MovingLab, movingLab } from '../../support/moves/moving-lab.ts';
import { type KnownProgram, programs } from '../../support/moves/programs.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

interface Place {
  readonly name: string;
  /** Begins the transaction. Returns a request whose answer the server still owes. */
  readonly begin: (session: DrivenSession) => Promise<{ readonly running: Promise<unknown> } | undefined>;
  /** The next request; without, the one that runs is it. */
  readonly next?: (session: DrivenSession) => Promise<unknown>;
  readonly reads: string;
  /** The request ends the transaction. */
  readonly isEnd?: true;
  readonly needs?: string;
  /** Drivers that cannot be there, or whose sessions do not survive it. */
  readonly without?: readonly string[];
}

const INSERT = 'insert into numbers values (7)';

async function inTransaction(session: DrivenSession, ...statements: readonly string[]): Promise<undefined> {
  for (const statement of ['begin', ...statements]) await session.run(statement);
}

/** A settled request that nobody awaits yet is no fault of the test. */
function owed(running: Promise<unknown>): { readonly running: Promise<unknown> } {
  running.catch(() => undefined);
  return { running };
}

const PLACES: readonly Place[] = [
  {
    name: 'before its first statement',
    begin: (session) => inTransaction(session),
    next: (session) => session.run(INSERT),
    reads: '40001',
  },
  {
    name: 'behind a statement',
    begin: (session) => inTransaction(session, INSERT),
    next: (session) => session.ask('bind', 'select $1::int', 1),
    reads: '40001',
    needs: 'bind',
  },
  {
    name: 'in a savepoint',
    begin: (session) => inTransaction(session, INSERT, 'savepoint one', INSERT),
    next: (session) => session.run('rollback to savepoint one'),
    reads: '40001',
  },
  {
    name: 'with a cursor',
    begin: (session) =>
      inTransaction(session, 'declare c cursor for select 1 from generate_series(1, 9)', 'fetch 1 from c'),
    next: (session) => session.value('fetch 1 from c'),
    reads: '40001',
    // Its FETCH is an unnamed statement, which nobody can prepare without the cursor.
    without: ['pgjdbc'],
  },
  {
    name: 'in a statement',
    begin: async (session) => {
      await inTransaction(session, INSERT);
      return owed(session.value('select 1 from pg_sleep(60)'));
    },
    reads: '40001',
  },
  {
    name: 'in a COPY out',
    begin: async (session) => {
      await inTransaction(session, INSERT);
      return owed(session.ask('copy_out', 'select 1 from pg_sleep(60)'));
    },
    reads: '40001',
    needs: 'copy_out',
    // These programs tell no error of it.
    without: ['psql', 'postgres-js'],
  },
  {
    name: 'in a failed transaction',
    begin: async (session) => {
      await inTransaction(session, INSERT);
      expect((await failureOf(session.value('select 1 / 0'))).state).toBe('22012');
      return undefined;
    },
    next: (session) => session.value('select 1'),
    reads: '25P02',
  },
  {
    name: 'before COMMIT',
    begin: (session) => inTransaction(session, INSERT),
    next: (session) => session.run('commit'),
    reads: '40001',
    isEnd: true,
  },
  {
    name: 'before PREPARE TRANSACTION',
    begin: (session) => inTransaction(session, INSERT),
    next: (session) => session.run("prepare transaction 'two'"),
    reads: '40001',
    isEnd: true,
  },
];

describeOnSandbox({ name: 'G24: transactions that a move ends, with every driver', legs: ['plain'] }, (on) => {
  const lab = movingLab(on, { moves: { wait: '100ms' } });
  for (const program of programs()) describeUnless(program.missing, program.name, () => driverTests(lab, program));
});

function driverTests(lab: MovingLab, program: KnownProgram): void {
  let driven: RunningProgram;
  beforeAll(async () => {
    await program.prepare(lab.directory);
    driven = program.start(lab.directory, await lab.target(lab.moving));
  });
  afterAll(() => driven.stop());
  const knows = !program.lacks.includes('transaction');

  const possible = PLACES.filter(
    ({ needs, without }) =>
      without?.includes(program.name) !== true && (needs === undefined || !program.lacks.includes(needs)),
  );
  it.each(possible.map((place, at) => [place.name, place, at] as const))('%s', async (_, place, at) => {
    const session = await driven.open(`aborted-${program.name}-${at}`);
    const expectKnown = async (state: 'open' | 'idle'): Promise<void> => {
      if (knows) expect(await session.ask('transaction')).toBe(state);
    };
    await session.run("set work_mem = '7MB'");
    const begun = await place.begin(session);
    if (begun !== undefined) await untilItRuns(lab, session.name);
    const moved = move(lab.moving, session.name, true);
    // A client that says nothing is told with its next request, and its session goes on with it. Where its transaction
    // has failed, there is nothing to tell.
    if (place.reads === '25P02') await moved;
    else if (begun === undefined) await untilItIsParked(lab, session.name);
    const failure = await failureOf(begun?.running ?? place.next?.(session) ?? Promise.resolve());
    expect(failure.state, failure.message).toBe(place.reads);
    await expectKnown(place.isEnd === true ? 'idle' : 'open');
    if (place.isEnd === undefined) {
      expect((await failureOf(session.value('select 2'))).state).toBe('25P02');
      await session.run('rollback');
      await expectKnown('idle');
    }
    expect(await moved, lostSessions(lab.moving)).toMatchObject({ result: 'moved' });
    expect(await session.value('show work_mem')).toBe('7MB');
    expect(await session.value('select count(*) from numbers')).toBe('0');
    expect(session.events.filter((event) => event === 'end')).toEqual([]);
  });
}

async function untilItIsParked({ moving }: MovingLab, application: string): Promise<void> {
  await moving.waitFor('its place', async () => (await findSession(moving, application)).state === 'parked');
}

/** Its server has the statement. */
async function untilItRuns({ cluster, moving }: MovingLab, application: string): Promise<void> {
  const { name } = await cluster.leader();
  await moving.waitFor('its statement', async () => {
    const text = `select query from pg_stat_activity where application_name = '${application}' and state = 'active'`;
    return (await cluster.sql(name, `${text} and query like '%pg_sleep(60)%'`)).length === 1;
  });
}
