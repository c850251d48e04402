// One screen: the cluster, its members with their place in each pool, the pools, and whatever needs attention. Pure.
import { stripVTControlCharacters } from 'node:util';
import { durationText } from '../../core/describe.ts';
import { sizeText } from '../../model/check.ts';
import { shown } from '../../model/printable.ts';
import type { Paint } from '../terminal/colour.ts';
import { tableText } from '../terminal/table.ts';
import type { Column } from '../terminal/table.ts';
import { branchesText, branchTrouble } from './branches.ts';
import { ageText, LEGEND, movingText, placeIn, routeText, sessionsIn, waitingIn, waitingText } from './cells.ts';
import type { Status, StatusMember, StatusPool } from './document.ts';
import { operationText } from './operations.ts';
import type { OperationStatus } from './operations.ts';

export interface ScreenOptions {
  readonly paint: Paint;
  readonly width: number;
  /** Where the status comes from: `127.0.0.1:8432`. */
  readonly from: string;
  /** That run now. */
  readonly operations?: readonly OperationStatus[];
}

export function statusScreen(status: Status, options: ScreenOptions): string {
  return [heading(status, options), membersText(status, options), poolsText(status, options)]
    .concat(branchesText(status, options.paint), noticesText(status, options))
    .filter((part) => part !== '')
    .join('\n');
}

/** Columns between the two halves of the heading, at least. */
const GAP = 2;

export function heading({ cluster, members, uptime_seconds: uptime }: Status, options: ScreenOptions): string {
  const { paint, width, from } = options;
  const primaries = members.filter(isPrimary).map(({ name }) => shown(name));
  const left = [
    `cluster ${shown(cluster.scope ?? 'unknown')}`,
    cluster.timeline === null ? 'no primary seen yet' : `timeline ${cluster.timeline}`,
    primaries.length === 0 ? 'no primary' : `primary ${primaries.join(' and ')}`,
  ].join('  ');
  const right = `seen by ${from}, up ${durationText(Math.round(uptime) * 1000)}`;
  const space = width - left.length - right.length;
  const between = space < GAP ? '\n' : ' '.repeat(space);
  return `${paint('strong', left)}${between}${paint('faint', right)}\n`;
}

/** Now: a member that does not answer is one only while another member vouches for it. */
function isPrimary({ role, failing, pools }: StatusMember): boolean {
  const isEligible = Object.values(pools).some(({ standing }) => standing === 'open');
  return role === 'primary' && (failing === undefined || isEligible);
}

/** With words if they fit, else with signs and a legend; pools that still do not fit have a table of their own. */
export function membersText({ members, pools }: Status, { paint, width }: ScreenOptions): string {
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
    {
      column: { title: 'LAG', align: 'right' },
      cell: ({ lag_bytes: lag }) => (typeof lag === 'number' ? sizeText(lag) : '–'),
    },
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

function roleText({ role, state }: StatusMember): string {
  const known = shown(role ?? '?');
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
      waitingIn(pool) === 0 ? '0' : paint('warn', `${waitingIn(pool)}`),
    ]),
    width,
  );
  return `${table}${waitingLines(status, { paint })}`;
}

/** A line for each pool with waiting clients, and for each with parked sessions; empty if there are none. */
export function waitingLines(status: Status, { paint }: Pick<ScreenOptions, 'paint'>): string {
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

/** The notices of things that need attention. Empty: there are none. */
export function noticesText(status: Status, { paint, width, operations = [] }: ScreenOptions): string {
  const { cluster, not_ready_because: notReady } = status;
  const { scheduled_switchover: switchover } = cluster;
  const branches = branchTrouble(status);
  const rows = [
    ...(notReady === undefined ? [] : [[paint('bad', 'not ready'), notReady]]),
    ...cluster.refused_primaries.map(({ member, why }) => [
      paint('bad', 'primary refused'),
      `${shown(member)} ${why} (see pointsman accept)`,
    ]),
    ...status.refused_members.map(({ name, why }) => [paint('bad', 'not used'), `${shown(name)}: ${why}`]),
    ...(branches === undefined ? [] : [[paint('warn', 'branch list'), branches]]),
    ...cluster.drained.map((name) => [paint('warn', 'drained'), drainedText(name, status)]),
    ...operations.map((operation) => [paint('warn', shown(operation.kind)), operationText(operation)]),
    ...(switchover === null
      ? []
      : [['switchover', `from ${shown(switchover.from)}, scheduled in ${ageText(switchover.in_seconds)}`]]),
  ];
  return tableText([{ title: '' }, { title: '', wraps: true }], rows, width);
}

function drainedText(name: string, { members }: Status): string {
  const drained = members.find((member) => member.name === name)?.drained;
  const since = drained === undefined ? ', not a member now' : ` for ${ageText(drained.for_seconds)}`;
  return `${shown(name)}${since} (pointsman resume ${shown(name)})`;
}
