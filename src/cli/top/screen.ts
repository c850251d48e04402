// The live screen: cluster, members, traffic of each pool, notices, and as many of the last events as fit. Pure.
import { shown } from '../../model/printable.ts';
import { eventText } from '../events/event.ts';
import type { EventDocument } from '../events/event.ts';
import { branchesText } from '../status/branch-status.ts';
import { routeText, sessionsIn, waitingIn } from '../status/cells.ts';
import { heading, membersText, noticesText, waitingLines } from '../status/screen.ts';
import type { ScreenOptions } from '../status/screen.ts';
import { tableText } from '../terminal/terminal-table.ts';
import type { Paint } from '../terminal/colour.ts';
import { bytesRateText, countedIn, rateText, ratesOf } from './rates.ts';
import type { Counted, Look } from './rates.ts';

export interface TopOptions extends ScreenOptions {
  /** Undefined: no terminal, so everything is shown. */
  readonly rows: number | undefined;
  /** The last line: the keys, or why there is no news. */
  readonly footer: string;
}

const EVENTS_WITHOUT_TERMINAL = 5;
const COLUMNS = [
  { title: 'POOL' },
  { title: 'ACTIVE', align: 'right' },
  { title: 'CONNECTING', align: 'right', optional: 1 },
  { title: 'WAITING', align: 'right' },
  { title: 'NEW/s', align: 'right' },
  { title: 'ENDED/s', align: 'right' },
  { title: 'TO SERVER', align: 'right' },
  { title: 'TO CLIENT', align: 'right' },
] as const;

export function topScreen(
  before: Look | undefined,
  now: Look,
  events: readonly EventDocument[],
  options: TopOptions,
): string {
  const { status } = now;
  const { paint, width, rows, footer } = options;
  const rowOf = (pool: Counted): readonly string[] => {
    const rates = ratesOf(pool, before, now);
    const states = pool.sessions?.by_state ?? {};
    const waiting = `${waitingIn(pool)}`;
    return [
      shown(pool.name),
      `${states['relaying'] ?? sessionsIn(pool)}`,
      `${(states['startup'] ?? 0) + (states['dialing'] ?? 0)}`,
      waiting === '0' ? waiting : paint('warn', waiting),
      rateText(rates?.accepted),
      rateText(rates?.closed),
      bytesRateText(rates?.toBackendBytes),
      bytesRateText(rates?.toClientBytes),
    ];
  };
  const routes = status.pools.map((pool) => [shown(pool.name), routeText(pool, paint)]);
  const parts = [
    heading(status, options),
    membersText(status, options),
    tableText(COLUMNS, countedIn(status).map(rowOf), width),
    tableText([{ title: '' }, { title: '', wraps: true }], routes, width),
    branchesText(status, paint),
    `${waitingLines(status, options)}${noticesText(status, options)}`,
  ];
  const above = parts.filter((part) => part !== '').join('\n');
  const room = rows === undefined ? undefined : rows - linesIn(above) - 2 - linesIn(footer);
  const below = `${lastEvents(events, room, paint, width)}${footer}`;
  return below === '' ? above : `${above}\n${below}`;
}

/** The newest at the end, each whole. `room`: lines. */
function lastEvents(events: readonly EventDocument[], room: number | undefined, paint: Paint, width: number): string {
  if (room === undefined)
    return events
      .slice(-EVENTS_WITHOUT_TERMINAL)
      .map((one) => eventText(one, paint, width))
      .join('');
  let text = '';
  for (const event of events.toReversed()) {
    const longer = `${eventText(event, paint, width)}${text}`;
    if (linesIn(longer) > room) break;
    text = longer;
  }
  return text;
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}
