// Sessions as a table. A narrow terminal shows what tells sessions apart, and whether they move; a wide one shows more.
import { durationText } from '../../core/describe.ts';
import { sizeText } from '../../model/check.ts';
import { shown } from '../../model/printable.ts';
import type { SessionSort } from '../../reports/session-list.ts';
import type { CliIo } from '../io.ts';
import { paintFor, type Paint } from '../terminal/colour.ts';
import { tableText, widthFor, type Column } from '../terminal/terminal-table.ts';
import type { SessionRow } from './read-sessions.ts';

interface SessionColumn extends Column {
  readonly cell: (session: ShownSession, paint: Paint) => string;
}

/** Left out while no session is on a branch, and while none can move. */
const [BRANCH, MOVES] = ['BRANCH', 'MOVES'];
/** Left out of the table of one Pointsman. */
const ADMIN = 'ADMIN';

/** `admin`: the address of its Pointsman. */
type ShownSession = SessionRow & { readonly admin?: string };

const COLUMNS: readonly SessionColumn[] = [
  { title: ADMIN, cell: ({ admin = '' }) => admin },
  { title: 'ID', align: 'right', cell: ({ id }) => String(id) },
  { title: 'POOL', cell: ({ pool }) => pool },
  { title: 'MEMBER', cell: memberCell },
  { title: BRANCH, cell: ({ branch }) => shown(branch?.name ?? '-') },
  { title: 'CLIENT', optional: 3, cell: ({ client }) => client },
  { title: 'USER', optional: 4, cell: ({ user, opaque }) => user ?? (opaque ? 'encrypted' : '-') },
  { title: 'DATABASE', optional: 5, cell: ({ database }) => database ?? '-' },
  { title: 'APPLICATION', optional: 2, cell: ({ application }) => application ?? '-' },
  { title: 'STATE', cell: stateCell },
  { title: MOVES, optional: 1, cell: movesCell },
  { title: 'SINCE', align: 'right', cell: sinceCell },
  { title: 'AGE', align: 'right', optional: 5, cell: ({ age_seconds: seconds = 0 }) => durationText(seconds * 1000) },
  { title: 'HELD', align: 'right', optional: 6, cell: ({ held_seconds: seconds }) => heldText(seconds) },
  { title: 'IN', align: 'right', optional: 7, cell: ({ to_backend_bytes: bytes }) => sizeText(bytes) },
  { title: 'OUT', align: 'right', optional: 7, cell: ({ to_client_bytes: bytes }) => sizeText(bytes) },
  { title: 'TLS', optional: 8, cell: ({ tls }) => tls ?? '-' },
  { title: 'LISTENER', optional: 9, cell: ({ listener }) => listener },
];

/** The columns of `sort` are in every table. */
export function sessionsTable(
  sessions: readonly ShownSession[],
  io: Pick<CliIo, 'env' | 'screen'>,
  sort?: SessionSort,
): string {
  const paint = paintFor(io);
  const sorted = sort === 'bytes' ? ['IN', 'OUT'] : [sort?.toUpperCase()];
  const hasBranches = sessions.some(({ branch }) => branch);
  const hasMoves = sessions.some(({ moves }) => moves);
  const hasAdmin = sessions.some(({ admin }) => admin);
  const isShown = new Map([
    [BRANCH, hasBranches],
    [MOVES, hasMoves],
    [ADMIN, hasAdmin],
  ]);
  const columns = COLUMNS.filter(({ title }) => isShown.get(title) ?? true).map(({ optional = 0, ...column }) =>
    sorted.includes(column.title) ? column : { ...column, optional },
  );
  const rows = sessions.map((session) => columns.map(({ cell }) => cell(session, paint)));
  return tableText(columns, rows, widthFor(io));
}

/** A relayed session shows its activity: `idle`, `in transaction`, `busy`; or that its causal read waits. */
function stateCell({ state, activity, read }: SessionRow, paint: Paint): string {
  if (read) return paint('warn', read.late === true ? 'read is late' : 'read waits');
  const text = (activity ?? state).replaceAll('_', ' ');
  if (state === 'holding' || state === 'parked' || state === 'moving') return paint('warn', text);
  return activity === 'in_failed_transaction' ? paint('bad', 'failed transaction') : text;
}

/** `pg-1 →`: it has left pg-1. `pg-1 → pg-2`: it is logged in at pg-2. */
function memberCell({ member, moves }: SessionRow): string {
  if (!moves?.underway) return member ?? '-';
  return `${shown(moves.underway.from)} → ${member ?? ''}`.trimEnd();
}

/** On its way it changes its state with each attempt. */
function sinceCell({ state_seconds: seconds, read, moves }: SessionRow): string {
  return durationText((read?.age_seconds ?? moves?.underway?.age_seconds ?? seconds) * 1000);
}

/** Whether it can move, or why not. */
function movesCell({ moves }: SessionRow): string {
  if (!moves) return '-';
  if (moves.answer === null) return 'not asked';
  return moves.answer.movable ? 'yes' : (moves.answer.reason ?? 'no').replaceAll('_', ' ');
}

function heldText(seconds: number | null): string {
  return seconds === null || seconds === 0 ? '-' : durationText(seconds * 1000);
}
