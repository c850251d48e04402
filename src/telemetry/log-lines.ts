// The level and the sentence of each event in the log. Pure. Normal traffic is debug or trace; info and above is for
// everything an operator reads after an incident. A new event gets its line in `LINES`.
import { CLOSE_REASONS } from '../model/close-reason.ts';
import type { BranchIdentity } from '../model/branch.ts';
import { countText, describeRoute, durationText } from '../core/describe.ts';
import { refusalText } from '../core/refusal-words.ts';
import { isPlanned } from '../core/routing-table.ts';
import type { EventKind, EventOf, EventsByKind, ReportedEvent } from '../reports/events.ts';
import type { MemberRefusal } from '../model/member.ts';
import { AGREEMENT_MS } from '../core/refused-primary.ts';
import { BRANCH_LINES } from './branch-lines.ts';
import { line, type LogLine } from './line.ts';
import { MOVE_LINES } from './move-lines.ts';
import { standingLine } from './standing-lines.ts';

export type Event = ReportedEvent;
type Lines = { readonly [Kind in EventKind]: (event: EventsByKind[Kind], isNews: boolean) => LogLine };

const LINES: Lines = {
  client_accepted: ({ session, client, pool }) =>
    line('trace', () => `session ${session}: accepted ${client}, pool ${pool}`),
  hold_started: ({ session, pool, cause }) =>
    line('debug', () => `session ${session}: waiting for pool ${pool} (${cause})`),
  hold_ended: ({ session, outcome, waitedMs }) =>
    line('debug', () => `session ${session}: hold ended after ${durationText(waitedMs)}: ${outcome}`),
  dial_finished: dialLine,
  login_refused: ({ session, member, sqlState, affectsOthers }) =>
    line(
      affectsOthers ? 'warn' : 'debug',
      () => `session ${session}: ${member} refused the login: ${refusalText(sqlState)}`,
    ),
  login_ended: ({ session, way, result, role, why }) =>
    why === undefined
      ? line('debug', () => `session ${session}: login (${way}): ${result}`)
      : line('warn', () => `role "${role}" binds its login, and has no verifier: ${why}`),
  session_opened: ({ session, client, member, branch }) =>
    line('debug', () => `session ${session}: ${client} connected to ${placeText(member, branch)}`),
  session_closed: closeLine,
  cancel_forwarded: ({ pool, key, members, branch, peer }) =>
    line('debug', () => {
      const to = branch === undefined ? (peer ?? members.join(', ')) : `branch ${branch.name}`;
      const what = to === '' ? 'answered: its server runs no statement of the client' : `sent to ${to}`;
      return `pool ${pool}: cancel request (${key} key) ${what}`;
    }),
  relay_chosen: (event) => line(event.isOn ? 'debug' : 'info', () => relayText(event)),
  unexpected_fault: ({ detail }) =>
    line('error', () => `a fault of Pointsman itself; it goes on, and a restart makes sure: ${detail}`),
  listener_failed: ({ pool, detail }) => line('error', () => `pool ${pool}: listener failed: ${detail}`),
  worker_started: ({ worker, pid }) => line('info', () => `worker ${worker} ready, pid ${pid}`),
  worker_ended: (event) => line('error', () => workerText(event)),
  certificate_loaded: ({ file, expiresAt }) =>
    line('info', () => `TLS certificate loaded from ${file}, valid until ${isoText(expiresAt)}`),
  certificate_refused: ({ why }) => line('error', () => `new TLS certificate rejected, keeping the old one: ${why}`),
  member_tls_verified: ({ member, expiresAt }, isNews) =>
    line(isNews ? 'info' : 'debug', () => `${member}: TLS, its certificate is valid until ${isoText(expiresAt)}`),
  member_tls_failed: ({ member, why }, isNews) =>
    line(isNews ? 'warn' : 'debug', () => `${member}: TLS failed: ${why}`),
  positions_connected: ({ member }, isNews) =>
    line(isNews ? 'info' : 'debug', () => `${member}: it can be asked for its positions`),
  positions_failed: ({ member, why }, isNews) =>
    line(isNews ? 'warn' : 'debug', () => `${member}: it cannot be asked for its positions: ${why}`),
  positions_unused: ({ member }) => line('debug', () => `${member}: no causal read asks for its positions any longer`),
  positions_answered: ({ member, question, count, totalMs }) =>
    line(
      'trace',
      () => `${member}: ${count} questions for positions (${question}) in ${durationText(totalMs)} together`,
    ),
  reads_late: ({ pool, member, result, count, isFirst, why }) =>
    line(isFirst === true ? 'warn' : 'debug', () => {
      const were = count === 1 ? 'a read was late' : `${count} reads were late`;
      return `pool ${pool}: ${were} on ${member} (${LATE_WORDS[result]}): ${why}`;
    }),
  reads_in_time: ({ pool, member, count, durationMs }) =>
    line('info', () => {
      const were = `${countText(count, 'read')} ${count === 1 ? 'was' : 'were'} late`;
      return `pool ${pool}: reads on ${member} are in time again: ${were} for ${durationText(durationMs)}`;
    }),
  probe_finished: probeLine,
  member_reported: (event) => line('debug', () => reportText(event)),
  discovery_finished: discoveryLine,
  members_changed: ({ added, removed }) => line('info', () => membersText(added, removed)),
  members_refused: ({ refused }) => refusedLine(refused),
  route_changed: routeLine,
  standing_changed: standingLine,
  primary_refused: ({ text }) => line('error', () => text),
  primary_accepted: (event) => line('warn', () => acceptedText(event)),
  member_drained: ({ member }) =>
    line('warn', () => `${member}: drained by the operator until it is resumed or Pointsman restarts`),
  member_resumed: ({ member }) => line('info', () => `${member}: resumed by the operator`),
  standby_report_stale: ({ member }) => line('warn', () => staleWordText(member)),
  contact_source_changed: sourceLine,
  refresh_requested: ({ isMerged }) => refreshLine(isMerged),
  urgent_probing: ({ on, triggers }) =>
    line('info', () => (on ? `probing faster: ${triggers.map(spaced).join(', ')}` : 'probing at the usual pace again')),
  config_reloaded: reloadLine,
  operation_started: ({ operation, what, to }) =>
    line('info', () => `${what} ${operation}: requested${to === undefined ? '' : `, to ${to}`}`),
  operation_phase: (event) => line('info', () => phaseText(event)),
  operation_ended: (event) => operationEndLine(event),
  outage_summary: ({ planned, text }) => line(planned === 'planned' ? 'info' : 'warn', () => text),
  config_reload_failed: ({ problems }) =>
    line('error', () => `configuration reload failed, nothing changed: ${problems.join('; ')}`),
  ...BRANCH_LINES,
  ...MOVE_LINES,
};

const LATE_WORDS: Readonly<Record<EventOf<'reads_late'>['result'], string>> = {
  moved: 'moved to another member',
  error: 'refused',
  stale: 'ran all the same',
};

/** `isNews`: the previous event of its matter had another outcome (news.ts). */
export function logLine(event: Event, isNews: boolean): LogLine {
  return lineOf(event.kind, event, isNews);
}

function lineOf<Kind extends EventKind>(kind: Kind, event: EventsByKind[Kind], isNews: boolean): LogLine {
  return LINES[kind](event, isNews);
}

function isoText(wallClock: number): string {
  return new Date(wallClock).toISOString();
}

/** `no_primary` becomes `no primary`. */
function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Groups events that many clients can cause at once: the group, and the line that counts the rest of it. */
export interface RepeatText {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly text: (count: number) => string;
}

/** Clients that never reached a member, and failed connects. */
export function repeatText(event: Event): RepeatText | undefined {
  if (event.kind === 'session_closed' && event.member === undefined) {
    const { pool, reason } = event;
    const text = (count: number): string =>
      `pool ${pool}: ${countText(count, 'more client')} closed within 1 s: ${reason}`;
    return { key: `pool ${pool} ${reason}`, fields: { pool, reason }, text };
  }
  if (event.kind === 'login_refused') {
    const { member, sqlState } = event;
    const text = (count: number): string =>
      `${member}: ${countText(count, 'more login')} refused within 1 s: ${refusalText(sqlState)}`;
    return { key: `member ${member} refused ${sqlState}`, fields: { member }, text };
  }
  if (event.kind === 'member_tls_failed') {
    const { member, reason } = event;
    const text = (count: number): string =>
      `${member}: TLS failed ${countText(count, 'more time')} within 1 s: ${reason}`;
    return { key: `member ${member} tls ${reason}`, fields: { member, reason }, text };
  }
  if (event.kind === 'member_tls_verified') {
    const { member } = event;
    const text = (count: number): string => `${member}: TLS worked again ${countText(count, 'more time')} within 1 s`;
    return { key: `member ${member} tls`, fields: { member }, text };
  }
  if (event.kind === 'login_ended' && event.why !== undefined) {
    const { role, why } = event;
    const text = (count: number): string =>
      `role "${role}": ${countText(count, 'more login')} without a verifier within 1 s`;
    return { key: `login ${role} ${why}`, fields: {}, text };
  }
  if (event.kind === 'dial_finished') {
    const { member, outcome } = event;
    const text = (count: number): string => `${member}: ${countText(count, 'more connect')} ${outcome} within 1 s`;
    return { key: `member ${member} ${outcome}`, fields: { member, outcome }, text };
  }
  return undefined;
}

/** `pg-1`, `branch pr-1` */
export function placeText(member: string | undefined, branch: BranchIdentity | undefined): string {
  return branch === undefined ? (member ?? 'no member') : `branch ${branch.name}`;
}

function workerText({ worker, pid, why, sessions, replacedInMs }: EventOf<'worker_ended'>): string {
  const died = `worker ${worker}${pid === undefined ? '' : ` (pid ${pid})`} exited: ${why}`;
  const took = `${countText(sessions, 'session')} closed with it`;
  const next = replacedInMs === undefined ? '' : `; restarting in ${durationText(replacedInMs)}`;
  return `${died}; ${took}${next}`;
}

function staleWordText(member: string): string {
  const how = `${member}: its server reports in_hot_standby=on, but its API confirms that it is the primary`;
  return `${how}; a pooler in between probably repeats an old value; sessions are allowed`;
}

function acceptedText({ member, by, detail }: EventOf<'primary_accepted'>): string {
  const why = by === 'operator' ? 'by the operator' : `all members agreed for ${durationText(AGREEMENT_MS)}`;
  return `${member}: accepted as primary with ${detail}: ${why}`;
}

function reloadLine({ changed, needsRestart }: EventOf<'config_reloaded'>): LogLine {
  const text = (): string => `configuration reloaded: ${changed.length === 0 ? 'no changes' : changed.join(', ')}`;
  if (needsRestart.length === 0) return { level: 'info', text };
  return line('warn', () => `${text()}; needs a restart: ${needsRestart.join(', ')}`);
}

function phaseText({ what, operation, phase, before, beforeMs = 0 }: EventOf<'operation_phase'>): string {
  const done = before === undefined ? '' : ` (${before} took ${durationText(beforeMs)})`;
  return `${what} ${operation}: ${phase}${done}`;
}

function operationEndLine({ what, operation, outcome, why, ...event }: EventOf<'operation_ended'>): LogLine {
  const { durationMs, held, ended, cut, moved } = event;
  const text = (): string => {
    const moves = moved === 0 ? '' : `, ${moved} moved`;
    const sessions = `${countText(held, 'client')} held, ${countText(ended, 'session')} ended, ${cut} cut${moves}`;
    return `${what} ${operation}: ${outcome} after ${durationText(durationMs)}: ${why}; ${sessions}`;
  };
  return { level: outcome === 'done' ? 'info' : outcome === 'unknown' ? 'error' : 'warn', text };
}

function dialLine(event: EventOf<'dial_finished'>): LogLine {
  const { session, member, outcome, durationMs } = event;
  const isConnected = outcome === 'connected';
  const what = isConnected ? `connected to ${member} in` : `connect to ${member}: ${outcome} after`;
  return {
    level: isConnected ? 'trace' : outcome === 'outraced' ? 'debug' : 'info',
    text: () => `session ${session}: ${what} ${durationText(durationMs)}`,
  };
}

function closeLine(event: EventOf<'session_closed'>): LogLine {
  const { session, client, member, branch, reason, detail, durationMs } = event;
  const text = (): string => {
    const where = member === undefined && branch === undefined ? '' : ` on ${placeText(member, branch)}`;
    const more = detail === undefined ? '' : `: ${detail}`;
    return `session ${session}: ${client}${where} closed after ${durationText(durationMs)}: ${reason}${more}`;
  };
  return { level: CLOSE_REASONS[reason].level, text };
}

function probeLine(event: EventOf<'probe_finished'>): LogLine {
  const { member, check, outcome, detail, durationMs } = event;
  const level = outcome === 'yes' || outcome === 'no' ? 'trace' : 'debug';
  const text = (): string =>
    `${member} ${check}: ${outcome} in ${durationText(durationMs)}${detail === undefined ? '' : `: ${detail}`}`;
  return { level, text };
}

function reportText({ member, role, state, timeline, isUnlocked }: EventOf<'member_reported'>): string {
  const report = `role ${role ?? 'none'}, state ${state ?? 'none'}, timeline ${timeline ?? 'none'}`;
  return `${member} reports ${report}${isUnlocked ? ', nobody holds the leader lock' : ''}`;
}

function discoveryLine(event: EventOf<'discovery_finished'>, isNews: boolean): LogLine {
  const { source, detail, members } = event;
  if (detail !== undefined) return { level: isNews ? 'warn' : 'debug', text: () => `discovery failed: ${detail}` };
  const text = (): string => `discovered ${countText(members, 'member')} via ${source ?? 'the configuration'}`;
  return { level: isNews ? 'info' : 'trace', text };
}

function membersText(added: readonly string[], removed: readonly string[]): string {
  const parts = [
    ...(added.length === 0 ? [] : [`added ${added.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`removed ${removed.join(', ')}`]),
  ];
  return `members changed: ${parts.join('; ')}`;
}

function refusedLine(refused: readonly MemberRefusal[]): LogLine {
  if (refused.length === 0) return line('info', () => 'all listed members are in use');
  return line('warn', () => `not used: ${refused.map(({ name, why }) => `${name} (${why})`).join(', ')}`);
}

function routeLine({ pool, from, to }: EventOf<'route_changed'>): LogLine {
  const text = (): string => `pool ${pool}: ${describeRoute(to)}`;
  if (to.kind === 'hold' && to.cause === 'two_primaries') return { level: 'error', text };
  const isLoss = from?.kind === 'open' && to.kind !== 'open' && !isPlanned(to);
  const isDegraded = to.kind === 'open' && to.lagging !== undefined;
  return { level: isLoss || isDegraded ? 'warn' : 'info', text };
}

/** A failing source is a warning even if it has worked before, because its last result becomes outdated. */
function sourceLine({ source, contactPoints, failing }: EventOf<'contact_source_changed'>): LogLine {
  const list = contactPoints.length === 0 ? 'no contact points' : `contact points ${contactPoints.join(', ')}`;
  if (failing === undefined) return line('info', () => `${source}: ${list}`);
  const { why, forMs } = failing;
  if (contactPoints.length === 0) return line('warn', () => `${source}: no contact points: ${why}`);
  const since = forMs === undefined ? '' : ` for ${durationText(forMs)}`;
  return line('warn', () => `${source}: no update${since} (${why}), keeping ${list}`);
}

function refreshLine(isMerged: boolean): LogLine {
  if (isMerged) return line('debug', () => 'refresh requested again within a second: merged');
  return line('info', () => 'refresh requested: probing all members now');
}

function relayText({ isOn, why }: EventOf<'relay_chosen'>): string {
  if (isOn) return 'direct relay enabled';
  return `direct relay not in use, relaying through Node streams: ${why ?? 'unknown reason'}`;
}
