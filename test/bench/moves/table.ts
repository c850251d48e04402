// The table and the legend of test/bench/README.md.
import { MODES, type LoadFigures, type PeerFigures } from './scene.ts';

interface Line {
  readonly title: string;
  readonly cell: (rounds: readonly PeerFigures[]) => string;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function idle(rounds: readonly PeerFigures[]): number {
  return sum(rounds.map((round) => round.idle.sessions));
}

function lines(): readonly Line[] {
  return [
    {
      title: 'idle sessions that lived, with their state',
      cell: (rounds) => `${sum(rounds.map((round) => round.idle.kept))} of ${idle(rounds)}`,
    },
    {
      title: 'idle sessions with an error',
      cell: (rounds) => String(sum(rounds.map((round) => round.idle.errors.length))),
    },
    {
      title: 'idle sessions that lost their state without an error',
      cell: (rounds) => String(sum(rounds.map((round) => round.idle.changed.length))),
    },
    ...MODES.flatMap((mode) => [
      { title: `pgbench, ${mode}: clients that ended`, cell: ended(mode) },
      { title: `pgbench, ${mode}: longest transaction, ms`, cell: longest(mode) },
    ]),
    { title: 'rows stored, less rows acknowledged', cell: difference },
    { title: 'drivers that repeat: connections lost or refused, of clients', cell: (rounds) => lost(rounds) },
    { title: 'drivers that repeat: clients that did not go on', cell: repeating((figures) => figures.stuck) },
    { title: 'drivers that repeat: other errors than 40001, 25P02', cell: repeating(({ errors }) => errors.length) },
    { title: 'drivers that repeat: 40001, 25P02', cell: repeating(({ repeated }) => repeated) },
    {
      title: 'drivers that repeat: transactions acknowledged',
      cell: repeating(({ acknowledged }) => acknowledged.length),
    },
    { title: 'drivers that repeat: acknowledged, and not stored', cell: repeating(({ missing }) => missing.length) },
    { title: 'drivers that repeat: stored, and not acknowledged', cell: repeating(({ untold }) => untold.length) },
    { title: 'drivers that repeat: half stored', cell: repeating(({ halves }) => halves.length) },
  ];
}

type Repeating = PeerFigures['repeating'];

function repeating(count: (figures: Repeating) => number) {
  return (rounds: readonly PeerFigures[]): string => String(sum(rounds.map((round) => count(round.repeating))));
}

function lost(rounds: readonly PeerFigures[]): string {
  return `${repeating((figures) => figures.lost)(rounds)} of ${repeating(({ clients }) => clients)(rounds)}`;
}

function loadsOf(mode: string, rounds: readonly PeerFigures[]): readonly LoadFigures[] {
  return rounds.flatMap(({ loads }) => loads.filter((load) => load.mode === mode));
}

function ended(mode: string) {
  return (rounds: readonly PeerFigures[]): string => {
    const loads = loadsOf(mode, rounds);
    const clients = sum(loads.map((load) => load.clients));
    if (loads.every(({ acknowledged }) => acknowledged === 0)) return 'not possible';
    return `${sum(loads.map(({ errors }) => errors.length))} of ${clients}`;
  };
}

/** A client that ended does not wait for its next server. */
function longest(mode: string) {
  return (rounds: readonly PeerFigures[]): string => {
    const loads = loadsOf(mode, rounds).filter(({ errors, acknowledged }) => errors.length === 0 && acknowledged > 0);
    return loads.length === 0 ? '-' : String(Math.round(Math.max(...loads.map((load) => load.longestMs))));
  };
}

function difference(rounds: readonly PeerFigures[]): string {
  return String(sum(rounds.flatMap(({ loads }) => loads.map(({ stored, acknowledged }) => stored - acknowledged))));
}

/** Markdown. */
export function table(played: readonly (readonly PeerFigures[])[]): string {
  const names = played[0]?.map(({ peer }) => peer) ?? [];
  const of = (name: string): readonly PeerFigures[] => played.flat().filter(({ peer }) => peer === name);
  const header = ['', ...names];
  const body = lines().map(({ title, cell }) => [title, ...names.map((name) => cell(of(name)))]);
  return [draw(header), `|${header.map(() => '---').join('|')}|`, ...body.map(draw)].join('\n');
}

function draw(row: readonly string[]): string {
  return `| ${row.join(' | ')} |`;
}

export const LEGEND = `\
Every peer sees the same switchovers at the same time. Idle sessions are psycopg2's, each with two settings and three
statements of SQL PREPARE; pgbench inserts one row a transaction, without retries. The drivers that repeat are
psycopg2, asyncpg, node-postgres, postgres.js and pgjdbc, each with five clients, whose transactions take 0.1, 0.5, 2,
10 and 60 s, in a statement or between two. For 40001 and 25P02 they run ROLLBACK and begin anew, on the same session.
Only libpq takes a list of hosts: psycopg2 alone is there.

- **Lived**: the same session answers on the new primary, with every setting and statement, and its driver told nothing.
- **Ended**: pgbench aborted the client. The **longest transaction** is that of the loads without such a client.
- **Stored, less acknowledged**: above 0 are transactions that were committed, and whose client was not told.
- **PgBouncer** is in transaction mode behind HAProxy. **With PAUSE**: its operator sends PAUSE right before the
  switchover, and RESUME after it. Its sessions share server connections, so none has a state of its own.
- **Half stored**: with --json FILE each has its name. postgres.js opens a new connection by itself, also in the middle
  of a transaction, unless its application reserves one; the rest of the transaction is outside of one then.
- **Did not go on**: no transaction of theirs succeeded within 90 s.
- **Not possible**: no transaction succeeded. PgBouncer before 1.21 has no prepared statements in transaction mode.`;
