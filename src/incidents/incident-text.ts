// An incident as a text for a ticket: at most 64 kB, for a reader that did not see it. Loaded on request.
import { countText } from '../core/describe.ts';
import { sumOf } from '../model/sums.ts';
import { clockText, secondsBetween, secondsText } from './findings/recorded-events.ts';
import type { Finding, IncidentDocument, IncidentEvent, IncidentSnapshot, SnapshotOfMember } from './schema.ts';

/** 64 kB of UTF-8. */
export const MOST_BYTES = 65_536;

const MOST_COLUMNS = 300;
const MOST_CUT_LINES = 60;
const MOST_SNAPSHOTS = 8;

const PLAN_WORDS: Readonly<Record<IncidentDocument['planned'], string>> = {
  planned: 'yes',
  unplanned: 'no',
  unknown: 'unknown',
};

const STATE_WORDS: Readonly<Record<IncidentDocument['state'], string>> = {
  open: 'open',
  settled: 'settled (a member may still be down)',
};

export function incidentText(document: IncidentDocument): string {
  const sections = [
    head(document),
    happened(document.findings),
    section('Sessions that were cut', cutSessions(document)),
    section('What is unknown, and why', unknowns(document)),
    ...shownSnapshots(document.snapshots).map(snapshotText),
  ];
  const before = `${sections.filter((one) => one !== '').join('\n')}\n`;
  const left = MOST_BYTES - Buffer.byteLength(before);
  return clipped(`${before}${eventsText(document.events, left)}`);
}

function section(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `\n## ${title}\n\n${lines.map((line) => `- ${onLine(line)}\n`).join('')}`;
}

function head(document: IncidentDocument): string {
  const { id, state, opened_at: opened, settled_at: settled, cluster, recorder, redaction } = document;
  const times = [
    `opened ${opened}`,
    ...document.reopened_at.map((time) => `opened again ${time}`),
    ...(settled === null ? [] : [`settled ${settled} (after ${secondsText(secondsBetween(opened, settled))})`]),
  ];
  const links = [
    ...(document.continues === null ? [] : [`It continues incident ${document.continues}.`]),
    ...(document.continued_by === null ? [] : [`Incident ${document.continued_by} continues it.`]),
    ...(document.interrupted ? ['Pointsman ended while it was open: its end is not recorded.'] : []),
  ];
  return [
    `# Incident ${id} of cluster ${cluster.scope ?? '(unknown)'}`,
    '',
    onLine(document.summary),
    '',
    `State: ${document.interrupted ? 'interrupted' : STATE_WORDS[state]}; ${times.join('; ')}.`,
    `Planned: ${PLAN_WORDS[document.planned]}.`,
    `Recorded by Pointsman ${recorder.version}, run ${recorder.run}, started ${recorder.started_at}.`,
    `All times are UTC. Codes such as [${recorder.run}-1] are event ids: the log has them as event_id.`,
    redaction.note,
    ...links,
    '',
  ].join('\n');
}

/** Several interruptions have a heading each, behind the findings about all of them. */
function happened(findings: readonly Finding[]): string {
  const parts = Map.groupBy(findings, (one) => ('interruption' in one ? one.interruption : null));
  const numbers = [...parts.keys()].filter((number) => number !== null);
  const isMany = numbers.length > 1;
  const first = section('What happened', (isMany ? (parts.get(null) ?? []) : findings).map(findingText));
  if (!isMany) return first;
  const each = numbers.map((number) => section(`Interruption ${number}`, (parts.get(number) ?? []).map(findingText)));
  return [first, ...each].join('\n');
}

function findingText(one: Finding): string {
  const planned = one.finding === 'plan' ? `Planned: ${PLAN_WORDS[one.planned]}. ` : '';
  return `${planned}${one.text}${ids(one.event_ids)}`;
}

/** The first few: the document has them all. */
function ids(all: readonly string[]): string {
  if (all.length === 0) return '';
  const shown = all.slice(0, 4).join(', ');
  return ` [${shown}${all.length > 4 ? ` and ${all.length - 4} more` : ''}]`;
}

/** By login and application: the owner of an application looks for its users. */
function cutSessions({ events, findings }: IncidentDocument): readonly string[] {
  const ids = new Set(findings.flatMap((one) => (one.finding === 'sessions_cut' ? one.event_ids : [])));
  const cut = events.filter(({ id }) => ids.has(id));
  const lines = [...Map.groupBy(cut, groupOf)].map(([key, group]) => {
    const [first = '', last = ''] = [group[0]?.time, group.map(lastTimeOf).toSorted().at(-1)];
    const when = first === last ? `at ${clockText(first)}` : `from ${clockText(first)} to ${clockText(last)}`;
    const clients = new Set(group.flatMap((event) => text(event, 'client') ?? []));
    const count = sumOf(group, ({ repeated }) => repeated?.count ?? 1);
    return `${countText(count, 'session')}, ${key}, ${when}, clients ${[...clients].slice(0, 5).join(', ')}`;
  });
  if (lines.length === 0) return findings.some((one) => one.finding === 'sessions_cut') ? [] : ['None.'];
  if (lines.length <= MOST_CUT_LINES) return lines;
  return [...lines.slice(0, MOST_CUT_LINES), `${lines.length - MOST_CUT_LINES} more groups: the JSON has them.`];
}

function groupOf(event: IncidentEvent): string {
  const application = text(event, 'application');
  const login = [
    `user ${text(event, 'user') ?? '(hidden)'}`,
    `database ${text(event, 'database') ?? '(hidden)'}`,
    ...(application === undefined ? [] : [`application ${application}`]),
  ].join(', ');
  return `pool ${text(event, 'pool')}, member ${text(event, 'member')}, ${login}: ${text(event, 'reason')}`;
}

function lastTimeOf({ time, repeated }: IncidentEvent): string {
  return repeated?.last_time ?? time;
}

/** The value of a field, if it is text. The fields are those of the log. */
function text({ fields }: IncidentEvent, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

function unknowns({ missing, findings }: IncidentDocument): readonly string[] {
  const unclear = findings.flatMap((one) =>
    one.finding === 'plan' && one.planned === 'unknown' ? [`Planned or not: ${one.text}`] : [],
  );
  return [
    ...unclear,
    ...missing.map(({ what, why, count }) => `${what}${count === undefined ? '' : ` (${count})`}: ${why}`),
  ];
}

/** The first and the last ones. */
function shownSnapshots(snapshots: readonly IncidentSnapshot[]): readonly IncidentSnapshot[] {
  if (snapshots.length <= MOST_SNAPSHOTS) return snapshots;
  return [...snapshots.slice(0, MOST_SNAPSHOTS / 2), ...snapshots.slice(-MOST_SNAPSHOTS / 2)];
}

function snapshotText({ when, time, timeline, pools, members }: IncidentSnapshot): string {
  const lines = [...pools.map(poolLine), ...members.slice(0, 50).map(memberLine)];
  return section(`${titleOf(when)} (${clockText(time)}, timeline ${timeline ?? 'unknown'})`, lines);
}

function poolLine(pool: IncidentSnapshot['pools'][number]): string {
  const { name, route, cause, members, fallback, sessions, connecting, closing, waiting } = pool;
  const where = route === 'open' ? ` on ${members.join(', ')}` : ` (${cause ?? 'clients are refused'})`;
  const lent = fallback === null ? '' : `, members of pool ${fallback}`;
  const numbers = [
    countText(sessions, 'session'),
    ...(connecting === 0 ? [] : [`${connecting} connecting`]),
    ...(closing === 0 ? [] : [`${closing} closing`]),
    `${waiting} waiting`,
  ];
  return `pool ${name}: ${route}${where}${lent}; ${numbers.join(', ')}`;
}

/** The reports of a member that does not answer are old: they could look like a second primary. */
function memberLine(member: SnapshotOfMember): string {
  const reports = [
    `role ${member.role ?? 'unknown'}`,
    `state ${member.state ?? 'unknown'}`,
    `timeline ${member.timeline ?? 'unknown'}`,
    ...(member.lag_bytes === null ? [] : [`lag ${member.lag_bytes} bytes`]),
    ...(member.staleness_seconds === undefined ? [] : [`staleness ${secondsText(member.staleness_seconds)}`]),
  ].join(', ');
  const age = member.answer_age_seconds;
  const known =
    member.failing === null
      ? reports
      : `no answer (${member.failing})${age === null ? '' : `; ${secondsText(age)} before: ${reports}`}`;
  const standings = Object.entries(member.standings).map(([pool, kind]) => `${pool}: ${STANDING_WORDS[kind] ?? kind}`);
  return [`member ${member.name}: ${known}`, ...standings].join('; ');
}

const STANDING_WORDS: Readonly<Record<string, string>> = {
  open: 'eligible',
  keep: 'no new sessions',
  leave: 'not eligible',
};

function titleOf(when: IncidentSnapshot['when']): string {
  return { before: 'Before', during: 'During', after: 'After' }[when];
}

function eventLine(event: IncidentEvent): string {
  const { repeated } = event;
  const more = repeated === undefined ? '' : ` (${repeated.count} times, the last at ${clockText(repeated.last_time)})`;
  return onLine(`${clockText(event.time)} [${event.id}] ${event.event}: ${event.message}${more}`);
}

/** Where there are too many, those in the middle are left out. */
function eventsText(events: readonly IncidentEvent[], bytes: number): string {
  const title = `\n## Events\n\n`;
  const lines = events.map(eventLine);
  const sizes = lines.map((line) => Buffer.byteLength(line) + 1);
  const room = bytes - title.length - 100;
  let size = sumOf(sizes, (bytesOf) => bytesOf);
  const kept = lines.map(() => true);
  const middle = Math.floor(lines.length / 2);
  const order = lines.map((_, index) => index).toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  for (const index of order) {
    if (size <= room) break;
    kept[index] = false;
    size -= sizes[index] ?? 0;
  }
  const left = kept.filter((isKept) => !isKept).length;
  const shown = lines.flatMap((line, index) => {
    if (kept[index] === true) return [line];
    return kept[index - 1] === true || index === 0
      ? [`… ${countText(left, 'entry', 'entries')} left out: the JSON has them …`]
      : [];
  });
  return `${title}${shown.map((line) => `${line}\n`).join('')}`;
}

function onLine(line: string): string {
  return line.length <= MOST_COLUMNS ? line : `${line.slice(0, MOST_COLUMNS - 1)}…`;
}

/** The last resort: never more than the limit. */
function clipped(all: string): string {
  const bytes = Buffer.from(all);
  return bytes.length <= MOST_BYTES
    ? all
    : `${bytes
        .subarray(0, MOST_BYTES - 4)
        .toString()
        .replace(/\uFFFD$/, '')}…`;
}
