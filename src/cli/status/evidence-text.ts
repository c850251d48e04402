// Where each pool routes, and the evidence for each member's place in it. The sentences come from /status; clients and
// the log get the same ones. Pure.
import { shown } from '../../model/printable.ts';
import type { Paint, Style } from '../terminal/colour.ts';
import { tableText } from '../terminal/terminal-table.ts';
import { latencyText, placeIn, waitingIn, waitingText } from './cells.ts';
import type { Status, StatusPool } from './read-status.ts';
import type { ScreenOptions } from './status-screen.ts';

const ROW = [{ title: '' }, { title: '' }, { title: '', wraps: true }] as const;

export function evidenceText(status: Status, options: Pick<ScreenOptions, 'paint' | 'width'>): string {
  return status.pools.map((pool) => poolText(pool, status, options)).join('\n');
}

function poolText(pool: StatusPool, status: Status, { paint, width }: Pick<ScreenOptions, 'paint' | 'width'>): string {
  const rows = status.members.flatMap((member) => {
    const own = member.pools[pool.name];
    const place = placeIn(pool, member);
    if (own === undefined || place === undefined) return [];
    const latency = latencyText(pool, member.name);
    const why = latency === undefined ? own.why : `${own.why}; ${latency}`;
    return [[`  ${shown(member.name)}`, paint(place.style, place.word), why]];
  });
  const waiting = waitingIn(pool) === 0 ? '' : paint('warn', `; ${waitingText(pool, status)}`);
  const heading = `${paint('strong', `pool ${pool.name}`)} (${pool.check}): ${routePainted(pool, paint)}${waiting}\n`;
  return `${heading}${rows.length === 0 ? '  no known members\n' : tableText(ROW, rows, width)}`;
}

function routePainted({ route, why }: StatusPool, paint: Paint): string {
  const style: Style = route.kind === 'open' ? 'good' : route.kind === 'hold' ? 'warn' : 'bad';
  return paint(style, why);
}
