// The switchover in words: the plan, a line for each phase, and the end.
import { countText, durationText } from '../../core/describe.ts';
import { staysText } from '../../core/pin-words.ts';
import { sizeText } from '../../model/check.ts';
import type { CliIo } from '../io.ts';
import { paintFor } from '../terminal/colour.ts';
import { MEMBER_COLUMNS, tableText, widthFor } from '../terminal/terminal-table.ts';
import type { Operation, SwitchoverPlanDocument } from './switchover-readers.ts';

const COLUMNS = [
  { title: 'CANDIDATE' },
  { title: 'ROLE', optional: 2 },
  { title: 'STATE' },
  { title: 'LAG', align: 'right' },
  { title: 'ELIGIBLE', wraps: true },
] as const;

export function planText(plan: SwitchoverPlanDocument, io: CliIo): string {
  const paint = paintFor(io);
  const { from, to, candidates, sessions_on_primary: sessions, unreadable_sessions_on_primary: unreadable } = plan;
  const rows = candidates.map(({ name, role, state, lag_bytes: lag, eligible, why }) => [
    name,
    role,
    state ?? 'unknown',
    lag === null ? 'unknown' : sizeText(lag),
    eligible ? paint('good', 'yes') : paint('warn', `no: ${why ?? ''}`),
  ]);
  const transactions = durationText(plan.transaction_timeout_ms);
  const heading = [
    `Switchover from ${from ?? 'no primary'} to ${to ?? 'the member that the cluster chooses'}\n\n`,
    candidates.length === 0 ? '' : `${tableText(COLUMNS, rows, widthFor(io))}\n`,
  ].join('');
  if (plan.fleet !== null) return `${heading}${fleetText(plan, plan.fleet)}`;
  return [
    heading,
    from === null || sessions === null ? '' : sessionsText(plan, from, sessions),
    unreadable === null || unreadable === 0
      ? ''
      : `${unreadable} of them cannot be read (TLS with the server): they are cut after ${transactions}.\n`,
    `New clients of the primary will wait, for ${durationText(plan.longest_hold_ms)} at most.\n`,
  ].join('');
}

type FleetPlan = NonNullable<SwitchoverPlanDocument['fleet']>;

function fleetText(plan: SwitchoverPlanDocument, { ahead_ms: ahead, hold_before_ms: before }: FleetPlan): string {
  const { from, sessions_on_primary: sessions, moves } = plan;
  const theirs = moves === null ? 'will end' : `${movesText(moves)}. The rest ends`;
  const onIt = countText(sessions ?? 0, 'session');
  const here =
    from === null || sessions === null
      ? ''
      : `Here, ${onIt} on ${from}${moves === null ? '' : ':'} ${theirs} when ${moves === null ? 'it' : from} stops.\n`;
  return [
    `The cluster schedules it, ${durationText(ahead)} ahead: until then `,
    'every Pointsman reads the list of members twice.\n',
    `From ${durationText(before)} before that time new clients of the primary wait (hold.before_switchover), ` +
      `for ${durationText(plan.longest_hold_ms)} at most.\n`,
    here,
    'How many sessions every other Pointsman has, and whether it holds its clients, is not known here.\n',
  ].join('');
}

function sessionsText({ moves, ...plan }: SwitchoverPlanDocument, from: string, sessions: number): string {
  const ends = `between two transactions, or after ${durationText(plan.transaction_timeout_ms)}`;
  if (moves === null) return `${countText(sessions, 'session')} on ${from} will end: ${ends}.\n`;
  return [
    `${countText(sessions, 'session')} on ${from}: ${movesText(moves)}.\n`,
    Object.keys(moves.stays).length === 0 ? '' : `Sessions that stay will end: ${ends}.\n`,
  ].join('');
}

function movesText({ movable, stays, unknown }: NonNullable<SwitchoverPlanDocument['moves']>): string {
  const staying = Object.values(stays).reduce((sum, count) => sum + count, 0);
  const left = staying === 0 ? '' : `, ${staying} ${staying === 1 ? 'stays' : 'stay'}: ${staysText(stays)}`;
  const [are, were, they] = unknown === 1 ? ['is', 'was', 'it becomes'] : ['are', 'were', 'they become'];
  const later = `${unknown} ${are} busy or ${were} not asked in time (checked when ${they} idle)`;
  const asked = unknown === 0 ? '' : `, ${later}`;
  return `${movable} can move${asked}${left}`;
}

/** Null: the phase runs. */
export function phaseText({ phase, duration_ms: ms }: Operation['phases'][number], operation: Operation): string {
  const { held, ended, cut, parked, moved } = operation.sessions;
  const fact =
    phase === 'drain'
      ? `  ${countText(ended, 'session')} ended, ${cut} cut${parked === 0 ? '' : `, ${parked} parked`}`
      : phase === 'release'
        ? `  ${countText(held, 'client')} held${parked === 0 ? '' : `, ${moved} moved`}`
        : '';
  return `${phase.padEnd(8)} ${durationText(ms ?? 0).padStart(8)}${fact}\n`;
}

/** One line about the whole. */
export function endText({ outcome, why, sessions, ...operation }: Operation, io: CliIo): string {
  const { held, longest_wait_ms: longest, not_served: refused, ended, cut, lost } = sessions;
  const { parked, aborted, moved, move_failed: failed } = sessions;
  const gap = operation.without_primary_ms;
  const facts = [
    `${countText(held, 'client')} held${held === 0 ? '' : ` (the longest for ${durationText(longest)})`}`,
    ...(refused === 0 ? [] : [`${refused} of them not served`]),
    ...(parked === 0 ? [] : [`${countText(moved, 'session')} moved`]),
    ...(aborted === 0 ? [] : [`${countText(aborted, 'transaction')} rolled back`]),
    ...(failed === 0 ? [] : [`${failed} could not move`]),
    `${countText(ended, 'session')} ended`,
    `${cut} cut`,
    ...(lost === 0 ? [] : [`${lost} lost`]),
    ...(gap === null ? [] : [`no primary for ${durationText(gap)}`]),
  ];
  const style = outcome === 'done' ? 'good' : 'bad';
  return `${paintFor(io)(style, outcome ?? 'ended')}: ${why ?? ''}; ${facts.join(', ')}\n`;
}

/** The state of the cluster, for an operation that did not succeed. */
export function clusterText({ primary, cluster }: Operation, io: CliIo): string {
  const serving = primary === null ? 'No primary takes clients now.' : `${primary} takes clients of the primary now.`;
  if (cluster === null) return `${serving} The cluster could not be read: look with \`pointsman status\`.\n`;
  const rows = cluster.members.map(({ name, role, state, timeline, lag_bytes: lag }) => [
    name,
    role,
    state ?? 'unknown',
    String(timeline ?? ''),
    lag === null ? '' : sizeText(lag),
  ]);
  return `${serving}\n\n${tableText(MEMBER_COLUMNS, rows, widthFor(io))}`;
}
