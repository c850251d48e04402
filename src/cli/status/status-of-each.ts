// `pointsman status` of several Pointsmen: the route of each pool at each of them, in one table.
import { shown } from '../../model/printable.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { askEach, linesOf, worstOf } from '../several.ts';
import { paintFor } from '../terminal/colour.ts';
import { tableText, widthFor } from '../terminal/terminal-table.ts';
import { routeText, sessionsIn, waitingIn } from './cells.ts';
import { readStatus, type StatusOptions } from './read-status.ts';

/** Exit code 0 if every pool serves at each of them. */
export async function statusOfEach(addresses: readonly string[], options: StatusOptions, io: CliIo): Promise<number> {
  const answers = await askEach(
    addresses,
    io,
    async (admin, own) => (await readStatus({ ...options, admin }, own)).status,
  );
  const paint = paintFor(io);
  const rows = answers.flatMap(({ admin, result, ...said }) => {
    if (result === undefined) return [[admin, '', paint('bad', linesOf(said).join(' ')), '', '']];
    return result.pools.map((pool, index) => [
      index === 0 ? admin : '',
      shown(pool.name),
      routeText(pool, paint),
      `${sessionsIn(pool)}`,
      `${waitingIn(pool)}`,
    ]);
  });
  const pointsmen = answers.map(({ admin, result = null, err }) => ({
    admin,
    status: result,
    error: err.trim() || null,
  }));
  io.stdout(options.json === true ? json({ pointsmen }) : tableText(COLUMNS, rows, widthFor(io)));
  const isServing = answers.every(({ result }) => result?.pools.every(({ route }) => route.kind === 'open'));
  return isServing ? EXIT.ok : Math.max(EXIT.failure, worstOf(answers));
}

const COLUMNS = [
  { title: 'ADMIN' },
  { title: 'POOL' },
  { title: 'ROUTE', wraps: true },
  { title: 'SESSIONS', align: 'right' },
  { title: 'WAITING', align: 'right' },
] as const;
