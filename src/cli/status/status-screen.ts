// One screen: the cluster, its members with their place in each pool, the pools, and whatever needs attention. Live, it
// has the traffic of each pool and the last events. Pure.
import { stripVTControlCharacters } from 'node:util';
import { durationText } from '../../core/describe.ts';
import { onOneLine, shown } from '../../model/printable.ts';
import { eventText, type EventDocument } from '../events/event.ts';
import type { Paint } from '../terminal/colour.ts';
import { tableText, type Column } from '../terminal/terminal-table.ts';
import { branchesText } from './branch-status.ts';
import {
  ageText,
  lagText,
  latencyText,
  LEGEND,
  movingText,
  placeIn,
  roleOf,
  routeText,
  sessionsIn,
  waitingIn,
  waitingText,
} from './cells.ts';
import type { Status, StatusMember, StatusPool } from './read-status.ts';
import { bytesRateText, countedIn, rateText, ratesOf, type CountedPool, type Look } from './rates.ts';
import { operationText, type OperationStatus } from './operations-under-way.ts';

export interface ScreenOptions {
  readonly paint: Paint;
  readonly width: number;
  /** Where the status comes from: `127.0.0.1:8432`. */
  readonly from: string;
  /** That run now. */
  readonly operations?: readonly OperationStatus[];
}

export interface LiveLook extends Look, Required<Pick<ScreenOptions, 'operations'>> {
  readonly events: readonly EventDocument[];
}

export interface LiveOptions extends ScreenOptions {
  /** For rates. Undefined: the first look. */
  readonly before: Look | undefined;
  /** Undefined: no terminal, so everything is shown. */
  readonly rows: number | undefined;
  /** The last line: the keys, or why there is no news. */
  readonly footer: string;
}

export function statusScreen(status: Status, options: ScreenOptions): string {
  return screenOf(status, [poolsText(status, options)], noticesText(status, options), options);
}

/** With the traffic of each pool, and as many of the last events as fit. */
export function liveScreen(now: LiveLook, options: LiveOptions): string {
  const { status, events, operations } = now;
  const { paint, width, rows, footer } = options;
  const attention = `${waitingLines(status, options)}${noticesText(status, { ...options, operations })}`;
  const above = screenOf(status, [trafficText(now, options), routesText(status, options)], attention, options);
  const room = rows === undefined ? undefined : rows - linesIn(above) - 2 - linesIn(footer);
  const below = `${lastEvents(events, room, paint, width)}${footer}`;
  return below === '' ? above : `${above}\n${below}`;
}

function screenOf(status: Status, pools: readonly string[], attention: string, options: ScreenOptions): string {
  return [heading(status, options), membersText(status, options), ...pools, latenciesText(status, options)]
    .concat(branchesText(status, options.paint), attention)
    .filter((part) => part !== '')
    .join('\n');
}

/** Columns between the two halves of the heading, at least. */
const GAP = 2;

export function heading({ cluster, members, uptime_seconds: uptime }: Status, options: ScreenOptions): string {
  const { paint, width, from } = options;
  const primaries = members.filter((member) => roleOf(member) === 'primary').map(({ name }) => shown(name));
  const none = cluster.timeline === null ? 'no primary seen yet' : 'no primary';
  const left = [
    `cluster ${shown(cluster.scope ?? 'unknown')}`,
    ...(cluster.timeline === null ? [] : [`timeline ${cluster.timeline}`]),
    primaries.length === 0 ? none : `primary ${primaries.join(' and ')}`,
  ].join('  ');
  const right = `seen by ${from}, up ${durationText(Math.round(uptime) * 1000)}`;
  const space = width - left.length - right.length;
  const between = space < GAP ? '\n' : ' '.repeat(space);
  return `${paint('strong', left)}${between}${paint('faint', right)}\n`;
}

/** With words if they fit, else with signs and a legend; pools that still do not fit have a table of their own. */
function membersText({ members, pools }: Status, { paint, width }: ScreenOptions): string {
  if (members.length === 0) return 'no known members\n';
  const table = (some: readonly StatusPool[], isLong: boolean, facts: readonly Fact[]): string =>
    tableText(
      [...facts.map(({ column }) => column), ...some.map(({ name }) => ({ title: shown(name) }))],
      members.map((member) => [
        ...facts.map(({ cell }) => cell(member)),
        ...some.map((pool) => placeText(pool, member, paint, isLong)),
      ]),
      width,
    );
  const facts = factsOf(pools, paint);
  const long = table(pools, true, facts);
  if (fits(long, width)) return long;
  const parts: string[] = [];
  let rest = pools;
  do {
    const used = parts.length === 0 ? facts : facts.slice(0, 1);
    let count = rest.length;
    while (count > 1 && !fits(table(rest.slice(0, count), false, used), width)) count -= 1;
    parts.push(table(rest.slice(0, count), false, used));
    rest = rest.slice(count);
  } while (rest.length > 0);
  return `${parts.join('\n')}${paint('faint', LEGEND)}\n`;
}

function fits(table: string, width: number): boolean {
  return stripVTControlCharacters(table)
    .split('\n')
    .every((line) => line.length <= width);
}

interface Fact {
  readonly column: Column;
  readonly cell: (member: StatusMember) => string;
}

function factsOf(pools: readonly StatusPool[], paint: Paint): readonly Fact[] {
  const sessions = (name: string): number => pools.reduce((sum, pool) => sum + sessionsIn(pool, name), 0);
  return [
    { column: { title: 'MEMBER' }, cell: ({ name }) => shown(name) },
    { column: { title: 'ROLE' }, cell: roleText },
    { column: { title: 'TL', align: 'right', optional: 2 }, cell: ({ timeline }) => `${timeline ?? '–'}` },
    { column: { title: 'LAG', align: 'right' }, cell: lagText },
    { column: { title: 'SESSIONS', align: 'right' }, cell: ({ name }) => `${sessions(name)}` },
    {
      column: { title: 'SEEN', align: 'right', optional: 1 },
      cell: ({ last_answer_age_seconds: age, failing }) => {
        const text = age === null ? 'never' : ageText(age);
        return failing === undefined ? text : paint('bad', text);
      },
    },
  ];
}

function roleText(member: StatusMember): string {
  const { state } = member;
  const known = shown(roleOf(member) ?? '?');
  return state === null || state === 'running' ? known : `${known}, ${shown(state)}`;
}

function placeText(pool: StatusPool, member: StatusMember, paint: Paint, isLong: boolean): string {
  const place = placeIn(pool, member);
  return place === undefined ? '' : paint(place.style, isLong ? `${place.sign} ${place.word}` : place.sign);
}

function poolsText(status: Status, { paint, width }: ScreenOptions): string {
  const table = tableText(
    [
      { title: 'POOL' },
      { title: 'ROUTE', wraps: true },
      { title: 'SESSIONS', align: 'right' },
      { title: 'WAITING', align: 'right' },
    ],
    status.pools.map((pool) => [
      shown(pool.name),
      routeText(pool, paint),
      `${sessionsIn(pool)}`,
      waitingCell(pool, paint),
    ]),
    width,
  );
  return `${table}${waitingLines(status, { paint })}`;
}

const TRAFFIC = [
  { title: 'POOL' },
  { title: 'ACTIVE', align: 'right' },
  { title: 'CONNECTING', align: 'right', optional: 1 },
  { title: 'WAITING', align: 'right' },
  { title: 'NEW/s', align: 'right' },
  { title: 'ENDED/s', align: 'right' },
  { title: 'TO SERVER', align: 'right' },
  { title: 'TO CLIENT', align: 'right' },
] as const;

function trafficText(now: Look, { before, paint, width }: LiveOptions): string {
  const rows = countedIn(now.status).map((pool) => {
    const rates = ratesOf(pool, before, now);
    const { relaying = sessionsIn(pool), startup = 0, dialing = 0 } = pool.sessions?.by_state ?? {};
    return [
      shown(pool.name),
      `${relaying}`,
      `${startup + dialing}`,
      waitingCell(pool, paint),
      rateText(rates?.accepted),
      rateText(rates?.closed),
      bytesRateText(rates?.toBackendBytes),
      bytesRateText(rates?.toClientBytes),
    ];
  });
  return tableText(TRAFFIC, rows, width);
}

function routesText({ pools }: Status, { paint, width }: ScreenOptions): string {
  const rows = pools.map((pool) => [shown(pool.name), routeText(pool, paint)]);
  return tableText([{ title: '' }, { title: '', wraps: true }], rows, width);
}

function waitingCell(pool: CountedPool, paint: Paint): string {
  const waiting = waitingIn(pool);
  return waiting === 0 ? '0' : paint('warn', `${waiting}`);
}

/** A line for each pool with waiting clients, and for each with parked sessions; empty if there are none. */
function waitingLines(status: Status, { paint }: Pick<ScreenOptions, 'paint'>): string {
  return status.pools
    .flatMap((pool) => {
      const moving = movingText(pool, status);
      return [
        ...(waitingIn(pool) > 0 ? [`${shown(pool.name)}: ${waitingText(pool, status)}`] : []),
        ...(moving === undefined ? [] : [`${shown(pool.name)}: ${moving}`]),
      ];
    })
    .map((line) => `${paint('warn', line)}\n`)
    .join('');
}

/** A line for each member of a pool with `balance: latency`. Empty: there is no such pool. */
function latenciesText({ pools, members }: Status, { width }: ScreenOptions): string {
  const rows = pools.flatMap((pool) =>
    members.flatMap(({ name }) => {
      const text = latencyText(pool, name);
      return text === undefined ? [] : [[shown(pool.name), shown(name), text]];
    }),
  );
  return rows.length === 0 ? '' : tableText(LATENCY, rows, width);
}

const LATENCY = [{ title: 'POOL' }, { title: 'MEMBER' }, { title: 'LATENCY', wraps: true }] as const;

/** All that needs attention, as the status page has it, and the operations that run. Empty: there is none. */
export function noticesText({ notices }: Status, { paint, width, operations = [] }: ScreenOptions): string {
  const rows = [
    ...notices.map(({ level, about, text, command }) => [
      paint(level === 'danger' ? 'bad' : 'warn', shown(about)),
      `${onOneLine(text)}${command === undefined ? '' : ` (${command})`}`,
    ]),
    ...operations.map((operation) => [paint('warn', shown(operation.kind)), operationText(operation)]),
  ];
  if (rows.length === 0) return '';
  return `${paint('strong', 'ATTENTION')}\n${tableText([{ title: '' }, { title: '', wraps: true }], rows, width)}`;
}

const EVENTS_WITHOUT_TERMINAL = 5;

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
