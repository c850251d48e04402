// What the log says about an event: level, sentence and fields. Pure. Ordinary traffic is debug or trace; what an operator wants to
// read the morning after is info or above.
import { CLOSE_REASONS } from '../model/close-reason.ts';
import type { CloseReason } from '../model/close-reason.ts';
import { describeRoute, durationText, leaveWord, standingText } from '../core/describe.ts';
import type { MonitorEvent, ProxyEvent, ReloadEvent, WorkerEvent } from '../reports/events.ts';
import type { MemberRefusal } from '../model/member.ts';
import { AGREEMENT_MS } from '../core/refused-primary.ts';
import type { WhyCode } from '../core/why.ts';

export type LineLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace';

export interface LogLine {
  readonly level: LineLevel;
  /** The sentence, made when it is asked for: most levels are off, and every session has lines of them. */
  readonly text: () => string;
}

type Event = ProxyEvent | WorkerEvent | MonitorEvent | ReloadEvent;

/** `isNews` is false when the event before it of this kind went the same way (only discovery repeats itself). */
export function logLine(event: Event, isNews: boolean): LogLine {
  switch (event.kind) {
    case 'client_accepted':
      return { level: 'trace', text: () => `session ${event.session}: ${event.client} accepted, pool ${event.pool}` };
    case 'hold_started':
      return { level: 'debug', text: () => `session ${event.session}: waits for pool ${event.pool} (${event.cause})` };
    case 'hold_ended':
      return { level: 'debug', text: () => holdText(event) };
    case 'dial_finished':
      return dialLine(event);
    case 'session_opened':
      return { level: 'debug', text: () => openedText(event) };
    case 'session_closed':
      return closeLine(event);
    case 'cancel_forwarded':
      return { level: 'debug', text: () => cancelText(event) };
    case 'relay_chosen':
      return { level: 'info', text: () => directIoText(event) };
    case 'listener_failed':
      return { level: 'error', text: () => `pool ${event.pool}: listener failed: ${event.detail}` };
    case 'worker_started':
      return { level: 'info', text: () => `worker ${event.worker} accepts clients, pid ${event.pid}` };
    case 'worker_ended':
      return { level: 'error', text: () => workerText(event) };
    case 'certificate_loaded':
      return { level: 'info', text: () => `TLS certificate ${event.file}, valid until ${dateText(event.expiresAt)}` };
    case 'certificate_refused':
      return { level: 'error', text: () => `the new TLS certificate cannot be used, the old one stays: ${event.why}` };
    case 'probe_finished':
      return probeLine(event);
    case 'discovery_finished':
      return discoveryLine(event, isNews);
    case 'members_changed':
      return { level: 'info', text: () => membersText(event.added, event.removed) };
    case 'members_refused':
      return refusedLine(event.refused);
    case 'route_changed':
      return routeLine(event);
    case 'standing_changed':
      return standingLine(event);
    case 'primary_refused':
    case 'primary_accepted':
    case 'member_drained':
    case 'member_resumed':
      return memberLine(event);
    case 'standby_report_stale':
      return { level: 'warn', text: () => staleWordText(event.member) };
    case 'contact_source_changed':
      return sourceLine(event);
    case 'refresh_asked':
      return refreshLine(event.isMerged);
    case 'urgent_probing':
      return { level: 'info', text: () => urgentText(event.on, event.triggers) };
    case 'config_reloaded':
      return reloadLine(event);
    case 'config_reload_failed':
      return { level: 'error', text: () => `reload failed, nothing changed: ${event.problems.join('; ')}` };
  }
}

/**
 * Of an event that a flood of clients could cause, each of them one: what its kind is, and the line for several more of
 * it.
 */
export interface RepeatText {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly text: (count: number) => string;
}

/** A client that never reached a member, and a connect that failed. */
export function repeatText(event: Event): RepeatText | undefined {
  if (event.kind === 'session_closed' && event.member === undefined) {
    const { pool, reason } = event;
    const text = (count: number): string => `pool ${pool}: ${count} more clients ended within 1 s: ${reason}`;
    return { key: `pool ${pool} ${reason}`, fields: { pool, reason }, text };
  }
  if (event.kind === 'dial_finished') {
    const { member, outcome } = event;
    const text = (count: number): string => `${member}: ${count} more connects ${outcome} within 1 s`;
    return { key: `member ${member} ${outcome}`, fields: { member, outcome }, text };
  }
  return undefined;
}

function workerText({ worker, pid, why, sessions, replacedInMs }: Extract<Event, { kind: 'worker_ended' }>): string {
  const died = `worker ${worker}${pid === undefined ? '' : ` (pid ${pid})`} ended: ${why}`;
  const took = `${sessions === 1 ? '1 session' : `${sessions} sessions`} ended with it`;
  const next = replacedInMs === undefined ? '' : `; the next one starts in ${durationText(replacedInMs)}`;
  return `${died}; ${took}${next}`;
}

function openedText({ session, client, member }: Extract<Event, { kind: 'session_opened' }>): string {
  return `session ${session}: ${client} is connected to ${member}`;
}

function staleWordText(member: string): string {
  const how = `${member}: new sessions read in_hot_standby=on, but its API proves that it is the primary`;
  return `${how}; a pooler before the server probably repeats an old value; sessions are let through`;
}

type MemberEvent = Extract<
  Event,
  { kind: 'primary_refused' | 'primary_accepted' | 'member_drained' | 'member_resumed' }
>;

function memberLine(event: MemberEvent): LogLine {
  switch (event.kind) {
    case 'primary_refused':
      return { level: 'error', text: () => event.text };
    case 'primary_accepted':
      return { level: 'warn', text: () => acceptedText(event) };
    case 'member_drained':
      return { level: 'warn', text: () => drainedText(event.member) };
    case 'member_resumed':
      return { level: 'info', text: () => `${event.member}: resumed by the operator` };
  }
}

function acceptedText({ member, by, detail }: Extract<Event, { kind: 'primary_accepted' }>): string {
  const why = by === 'operator' ? 'the operator said so' : `all members agreed for ${durationText(AGREEMENT_MS)}`;
  return `${member}: believed as the primary from now on with ${detail}: ${why}`;
}

function drainedText(member: string): string {
  return `${member}: drained by the operator, until it is resumed or this process ends`;
}

function cancelText({ pool, key, members }: Extract<Event, { kind: 'cancel_forwarded' }>): string {
  return `pool ${pool}: cancel request of ${key} key sent to ${members.join(', ')}`;
}

function reloadLine({ changed, needsRestart }: Extract<Event, { kind: 'config_reloaded' }>): LogLine {
  const text = (): string => `configuration reloaded: ${changed.length === 0 ? 'nothing changed' : changed.join(', ')}`;
  if (needsRestart.length === 0) return { level: 'info', text };
  return { level: 'warn', text: () => `${text()}; not applied without a restart: ${needsRestart.join(', ')}` };
}

function dialLine(event: Extract<Event, { kind: 'dial_finished' }>): LogLine {
  const { session, member, outcome, durationMs } = event;
  const isConnected = outcome === 'connected';
  const what = isConnected ? 'connected' : `connect ${outcome}`;
  return {
    level: isConnected ? 'trace' : outcome === 'outraced' ? 'debug' : 'info',
    text: () => `session ${session}: ${member}: ${what} in ${durationText(durationMs)}`,
  };
}

function dateText(at: number): string {
  return new Date(at).toISOString();
}

/** What keeps clients away and may be ours to mend, whoever ended it. */
const LOUD: readonly CloseReason[] = ['tls_failed'];

/** Ordinary ends, those of old age too, and what every client that merely probes the port would write, stay out of the way. */
const QUIET: readonly CloseReason[] = ['cancel_forwarded', 'startup_timeout', 'too_old'];

function closeLine(event: Extract<Event, { kind: 'session_closed' }>): LogLine {
  const { session, client, member, reason, detail, durationMs } = event;
  const isOurs = (CLOSE_REASONS[reason].side === 'pointsman' || LOUD.includes(reason)) && !QUIET.includes(reason);
  const level = reason === 'internal_error' ? 'error' : isOurs ? 'info' : 'debug';
  const text = (): string => {
    const where = member === undefined ? '' : ` on ${member}`;
    const more = detail === undefined ? '' : `: ${detail}`;
    return `session ${session}: ${client}${where} ended after ${durationText(durationMs)}: ${reason}${more}`;
  };
  return { level, text };
}

function probeLine(event: Extract<Event, { kind: 'probe_finished' }>): LogLine {
  const { member, check, outcome, detail, durationMs } = event;
  const level = outcome === 'yes' || outcome === 'no' ? 'trace' : 'debug';
  const text = (): string =>
    `${member} ${check}: ${outcome} in ${durationText(durationMs)}${detail === undefined ? '' : `: ${detail}`}`;
  return { level, text };
}

function discoveryLine(event: Extract<Event, { kind: 'discovery_finished' }>, isNews: boolean): LogLine {
  const { source, detail, members } = event;
  if (detail !== undefined) return { level: isNews ? 'warn' : 'debug', text: () => `discovery failed: ${detail}` };
  const text = (): string =>
    `discovery: ${members === 1 ? '1 member' : `${members} members`}, from ${source ?? 'the configuration'}`;
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
  if (refused.length === 0) return { level: 'info', text: () => 'every member of the document is used' };
  return { level: 'warn', text: () => `not used: ${refused.map(({ name, why }) => `${name} (${why})`).join(', ')}` };
}

function routeLine({ pool, from, to }: Extract<Event, { kind: 'route_changed' }>): LogLine {
  const text = (): string => `pool ${pool}: ${describeRoute(to)}`;
  if (to.kind === 'hold' && to.cause === 'two_primaries') return { level: 'error', text };
  const isPlanned = to.kind === 'hold' && (to.cause === 'switchover' || to.cause === 'drained');
  const isLoss = from?.kind === 'open' && to.kind !== 'open' && !isPlanned;
  const isDegraded = to.kind === 'open' && to.lagging !== undefined;
  return { level: isLoss || isDegraded ? 'warn' : 'info', text };
}

/** A member that left for one of these is in trouble; the other ways out are somebody's decision. */
const TROUBLE: readonly WhyCode[] = [
  'no_answer',
  'vanished',
  'refused',
  'other_cluster',
  'not_running',
  'two_primaries',
  'superseded',
];

function standingLine({ pool, member, from, to, text }: Extract<Event, { kind: 'standing_changed' }>): LogLine {
  const isTrouble = from?.kind === 'open' && TROUBLE.includes(to.why.code);
  const isMove = from?.kind === 'open' || to.kind === 'open';
  return {
    level: isTrouble ? 'warn' : isMove ? 'info' : 'debug',
    text: () => `pool ${pool}: ${member} ${standingText(to.kind, leaveWord(to))}: ${text}`,
  };
}

/** A source that has given something and gives nothing new is worth a warning: what it gave grows old. */
function sourceLine({ source, contactPoints, failing }: Extract<Event, { kind: 'contact_source_changed' }>): LogLine {
  const list = contactPoints.length === 0 ? 'no contact point' : `contact points ${contactPoints.join(', ')}`;
  if (failing === undefined) return { level: 'info', text: () => `${source}: ${list}` };
  const { why, forMs } = failing;
  if (contactPoints.length === 0) return { level: 'warn', text: () => `${source}: no contact point: ${why}` };
  const since = forMs === undefined ? '' : ` for ${durationText(forMs)}`;
  return { level: 'warn', text: () => `${source}: nothing new${since} (${why}), as before: ${list}` };
}

function refreshLine(isMerged: boolean): LogLine {
  if (isMerged) return { level: 'debug', text: () => 'refresh asked for again: probing is urgent already' };
  return { level: 'info', text: () => 'refresh asked for: every member is asked at once' };
}

function holdText({ session, outcome, waitedMs }: Extract<Event, { kind: 'hold_ended' }>): string {
  return `session ${session}: ${outcome} after ${durationText(waitedMs)}`;
}

function directIoText({ isOn, why }: Extract<Event, { kind: 'relay_chosen' }>): string {
  if (isOn) return 'bytes are relayed past the streams of Node';
  return `bytes are relayed through the streams of Node, which costs more: ${why ?? 'unknown'}`;
}

function urgentText(on: boolean, triggers: readonly string[]): string {
  return on ? `urgent probing on: ${triggers.join(', ')}` : 'urgent probing off';
}
