// deploy/metrics.md and deploy/log-events.md list the exports of the program. This test makes both from the program;
// `vitest run --config test/vitest.config.ts test/unit/telemetry/reference.test.ts -u` writes them.
import { READ_SCOPES } from '../../../src/model/causal-reads.ts';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { withDrained } from '../../../src/core/snapshot.ts';
import type { PoolCounts } from '../../../src/reports/counts.ts';
import { ReadCounts } from '../../../src/proxy/reads/read-counts.ts';
import { EVENTS_VERSION } from '../../../src/reports/events.ts';
import { EVENT_NAMES } from '../../../src/telemetry/event-names.ts';
import { logFields } from '../../../src/telemetry/log-fields.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { aList, aPolicy, isPrimary, isReplica } from '../../support/values/builders.ts';
import { DecidedHistory } from '../../support/values/decided-history.ts';
import { EVENT_FIELDS } from '../../support/values/event-fields.ts';
import { EVENT_SAMPLES } from '../../support/values/event-samples.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { NO_COUNTS, aStatusSource, decidedAt } from '../../support/values/status-source.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

/** Lines without an event: level, fields and meaning. */
const OTHER_LINES: Readonly<Record<string, readonly [levels: string, fields: string, meaning: string]>> = {
  starting: [
    'info',
    '`version`, `events_version`, `pid`, `node_version`, `config`, `scope`',
    'The first line of a run.',
  ],
  ready: ['info', '', 'The first round of probes is complete.'],
  stopping: ['info', '`grace_ms`, `drain_timeout_ms`', 'A signal started the shutdown.'],
  stopped: ['info, warn', '`sessions`, `duration_ms`', 'The last line. warn: a second signal cut the drain short.'],
  listening: ['info', '`pool`, `address`', 'A listener is bound; `admin` is the admin endpoint.'],
  not_listening: ['info', '`pool`, `address`', 'A reload removed a listener.'],
  access: [
    'info',
    '`action` (`opened`, `closed`), and the fields of `session_opened` or `session_closed`',
    'The access log (`log.access`), whatever the level of the log.',
  ],
  config_warning: ['warn', '', 'A warning about the configuration.'],
  config_not_reloaded: ['warn, error', '`err`', 'A reload without a configuration file, or an unexpected error.'],
  token_unusable: ['warn', '', 'The file of the admin token cannot be used; operations are disabled.'],
  open_files_limit: ['warn', '`limit`, `sessions`, `max_sessions`', 'The limit on open files allows fewer sessions.'],
  systemd_notify_failed: ['warn', '', 'systemd cannot be notified.'],
  passthrough_limits: ['info', '', 'At the start: what Pointsman cannot do for sessions whose TLS it passes through.'],
  repeated: ['as the first line', '`of`, `count`, and the fields of the group', 'Counts the repetitions of a line.'],
  incidents_not_written: ['warn', '', 'Incidents cannot be written to their directory and stay in memory.'],
  log_dropped: ['warn', '`lines`', 'Log lines were lost.'],
  record_failed: ['error', '`of`, `err`', 'An event could not be recorded: a bug.'],
};

const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

interface DocumentedEvent {
  readonly name: string;
  readonly levels: readonly string[];
  readonly fields: readonly string[];
  readonly meaning: string;
}

const DOCUMENTED: readonly DocumentedEvent[] = Object.entries(EVENT_SAMPLES).map(([name, { meaning, samples }]) => {
  const lines = samples.flatMap((sample) => [logLine(sample, true), logLine(sample, false)]);
  const fields = samples.flatMap((sample) => Object.entries(logFields(sample)));
  const present = fields.filter(([, value]) => value !== undefined).map(([field]) => field);
  const levels = LEVELS.filter((level) => lines.some((line) => line.level === level));
  return { name, levels, fields: [...new Set(present)], meaning };
});

/** The names in backquotes. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

/** Fields of the access log: one of two lines of sessions, with `action`. */
const ACCESS_FIELDS = DOCUMENTED.filter(({ name }) => name.startsWith('session_')).flatMap(({ fields }) => fields);

const ALL_EVENTS: readonly DocumentedEvent[] = [
  ...DOCUMENTED,
  ...Object.entries(OTHER_LINES).map(([name, [levels, fields, meaning]]) => ({
    name,
    levels: name === 'repeated' ? LEVELS.filter((level) => level !== 'trace') : levels.split(', '),
    fields: name === 'access' ? ['action', ...new Set(ACCESS_FIELDS)] : namesIn(fields),
    meaning,
  })),
].toSorted((a, b) => (a.name < b.name ? -1 : 1));

test('deploy/log-events.md lists every event with its levels, fields and meaning', async () => {
  const events = DOCUMENTED.map(({ name, levels, fields, meaning }) =>
    row(code([name]), levels.join(', '), code(fields), meaning),
  );
  const others = Object.entries(OTHER_LINES).map(([name, cells]) => row(code([name]), ...cells));
  const fields = Object.entries(EVENT_FIELDS).map(([name, { type, meaning }]) => row(code([name]), type, meaning));
  const page = `# Log events

Version ${EVENTS_VERSION}. The log, [\`GET /events\`](operate.md#events) and incidents share these events and fields.
The version increases when a field changes its meaning or goes. A new event or field does not change it.
The first line of a run has it as \`events_version\`.

Each line of the JSON log has \`level\`, \`time\` (ISO 8601), \`event\` and \`msg\` (the sentence).
\`event_id\` (RUN-NUMBER) is the id of the event in \`GET /events\` and in incidents; its numbers increase, with gaps.
The other fields depend on the event. A field without a value is absent. No field repeats the sentence.
\`/events\` calls the sentence \`message\`, and has the other fields in \`fields\`.
[log-events.schema.json](log-events.schema.json) is a JSON schema of a line.

This page is generated from the program and held in step with it by a test.

## The access log

\`log.access: closed\` writes a line (\`access\`) for each client connection when it ends, whatever \`log.level\` is.
\`all\` also writes one when it is connected to a member. A reload switches it. It is off by default.
These lines are no events: \`/events\` and incidents do not have them.

User, client address and application are personal data in most countries: keep the lines as long as you need them.
Where TLS goes through to the server (\`tls\`: \`passthrough\`), Pointsman cannot read user, database and application.
No line has a password, a statement or a value from a query. Names are cut to 63 bytes and made printable.

## Events

| Event | Level | Fields | Meaning |
| --- | --- | --- | --- |
${[...events, ...others].toSorted().join('\n')}

## Fields

| Field | Type | Meaning |
| --- | --- | --- |
${fields.toSorted().join('\n')}
`;
  await expect(page).toMatchFileSnapshot('../../../deploy/log-events.md');
});

test('every field is documented once, with the type that it has in every event', () => {
  const used = ALL_EVENTS.flatMap(({ fields }) => fields).filter((field) => !OPENING.includes(field));
  expect([...new Set(used)].toSorted()).toEqual(Object.keys(EVENT_FIELDS).toSorted());
  const values = Object.values(EVENT_SAMPLES).flatMap(({ samples }) =>
    samples.flatMap((sample) => Object.entries(logFields(sample)).filter(([, value]) => value !== undefined)),
  );
  const wrong = values.filter(
    ([name, value]) => typeOf(value) !== EVENT_FIELDS[name]?.type.replace('integer', 'number'),
  );
  expect(wrong).toEqual([]);
});

/** Values of `action`, not fields. */
const OPENING = ['opened', 'closed', 'session_opened', 'session_closed'];

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

test('deploy/log-events.schema.json is the schema of a line, and the lines of all events keep to it', async () => {
  const properties = Object.fromEntries(
    Object.entries(EVENT_FIELDS).map(([name, { type, meaning }]) => [name, { type, description: meaning }]),
  );
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A line of the log of Pointsman',
    description: `Version ${EVENTS_VERSION}. See log-events.md.`,
    oneOf: ALL_EVENTS.map(({ name, levels, fields, meaning }) => ({
      title: name,
      description: meaning,
      type: 'object',
      required: ['level', 'time', 'event', 'msg'],
      properties: {
        level: { type: 'string', enum: levels },
        time: { type: 'string', format: 'date-time' },
        event: { const: name },
        msg: { type: 'string' },
        ...(name === 'access' ? {} : { event_id: { type: 'string', description: 'RUN-NUMBER, as in /events.' } }),
        ...Object.fromEntries(fields.map((field) => [field, properties[field]])),
      },
    })),
  };
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot('../../../deploy/log-events.schema.json');
  const lines = Object.values(EVENT_SAMPLES).flatMap(({ samples }) =>
    samples.map((sample) => {
      const { level, text } = logLine(sample, true);
      const written = { level, time: new Date(0).toISOString(), event: sample.kind, ...logFields(sample), msg: text() };
      return JSON.stringify(written);
    }),
  );
  const reader = z.fromJSONSchema(JSON.parse(JSON.stringify(schema)));
  expect(lines.filter((line) => !reader.safeParse(JSON.parse(line)).success)).toEqual([]);
  expect(reader.safeParse({ level: 'info', event: 'ready', msg: 'without a time' }).success).toBe(false);
});

test('the page lists the event of every log line', () => {
  const files = globSync('src/{main.ts,app/**/*.ts,telemetry/**/*.ts,cli/**/*.ts}');
  const written = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/(?:event: |tell\()'(\w+)'/g)]);
  expect([...new Set(written.map(([, name = '']) => name))].toSorted()).toEqual(Object.keys(OTHER_LINES).toSorted());
});

test('the names that GET /events knows are those of all lines of level info and above', () => {
  const notTapped = new Set(['access', 'log_dropped']);
  const told = ALL_EVENTS.filter(({ name, levels }) =>
    levels.some((level) => ['info', 'warn', 'error'].includes(level) && !notTapped.has(name)),
  );
  expect(EVENT_NAMES).toEqual(told.map(({ name }) => name));
});

const base = aPolicy();
const gated = { waitMs: 500, late: 'error' } as const;
const policy = {
  ...base,
  pools: base.pools.map((pool, at) => ({
    ...pool,
    whenAllLagging: 'least_lagging' as const,
    causalReads: { ...gated, scope: READ_SCOPES[at] ?? 'cluster' },
  })),
};
const list = aList(0, 'pg-1', 'pg-2');
const before = decidedAt(policy, 0, list, isPrimary('pg-1', 0), isReplica('pg-2', 0));
const after = decidedAt(
  policy,
  1000,
  { ...list, refused: [{ name: 'pg-9', reason: 'address', why: 'why' }] },
  isPrimary('pg-2', 900, { timeline: 2 }),
  isReplica('pg-1', 1000, { timeline: 2 }),
);
const causalReads = new ReadCounts({ clock: new ManualClock(), late: { note: () => {} } }).counts();
const latency = new Map([['pg-1', { requestMs: 1, loginMs: 5, at: 0, share: 1 }]]);
const counts: PoolCounts = { ...NO_COUNTS, members: new Map([['pg-1', 1]]), causalReads, latency };
const worker = {
  number: 1,
  pid: 50,
  isReady: true,
  startedAt: 0,
  restarts: 0,
  sessions: 1,
  cpuSeconds: 1,
  residentBytes: 1,
};

/** After a change of the primary, so that every series exists. */
async function exposition(): Promise<string> {
  const history = new DecidedHistory(policy).take(before.snapshot(), before.table());
  const operation = { operation: 'op-1', what: 'switchover' } as const;
  history.happened({ kind: 'operation_started', ...operation, to: undefined });
  history.happened({ kind: 'operation_phase', ...operation, phase: 'switch' });
  const metrics = createMetrics({
    version: '1.2.3',
    nodeVersion: 'v24.12.0',
    pools: ['write', 'read'],
    ...aStatusSource({
      pools: () => policy.pools,
      table: after.table,
      snapshot: () => withDrained(after.snapshot(), 'pg-1', 0),
      history: history.take(after.snapshot(), after.table()).history,
      counts: () => new Map([['write', counts]]),
      limits: () => ({ sessions: 1, handshakes: 1, heldClients: 1, eventStreams: 1 }),
      certificate: () => ({ file: '/tls.crt', expiresAt: 0, isCurrent: true }),
      handshakes: () => new Map([['pg-1', { expiresAt: 0, failing: undefined }]]),
      workers: () => [worker],
      branches: () => ({ source: 'console', branches: 3, readAt: 0, failing: undefined }),
    }),
  });
  for (const { samples } of Object.values(EVENT_SAMPLES)) {
    for (const sample of samples) if (sample.kind !== 'members_changed') metrics.count(sample);
  }
  // The members of the samples are those of the table: their series stay.
  return withoutScope(await metrics.text());
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

function familiesOf(text: string): readonly Family[] {
  const blocks = text.split(/^# HELP /m).slice(1);
  return blocks.map((block) => {
    const [, name = '', help = ''] = /^(\S+) (.*)$/m.exec(block) ?? [];
    const [, type = ''] = /^# TYPE \S+ (\w+)$/m.exec(block) ?? [];
    const labels = new Map<string, Set<string>>();
    for (const [, label = '', value = ''] of block.matchAll(/[{,](\w+)="([^"]*)"/g)) {
      if (label !== 'le') labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
    return { name, help, type, labels };
  });
}

/** Labels whose values vary, or come from the user. */
const OPEN_LABELS = 'pool member worker file version node_version timeline system_identifier'.split(' ');

const UNITS =
  '`GET /metrics` on the admin address, in the text format of Prometheus. ' +
  'Durations are seconds, points in time Unix time.';
const OUTCOMES =
  '`pool`, `member` and `worker` are the names in use. ' +
  '`outcome` of `pointsman_dials_total`: `connected`, `refused`,\n' +
  '`timeout`, `failed` or `outraced`; of `pointsman_probes_total`: `yes`, `no`, `refused` or the kind of failure.\n' +
  'Of `pointsman_member_info`, `role` is `primary`, `replica`, `standby_leader`, `demoted`, `promoted`,\n' +
  "`uninitialized` or `unknown`, and `state` is Patroni's, such as `running`, `streaming` or `creating_replica`;\n" +
  'a text that Patroni does not document is `other`.';
const SCOPE = `## The cluster of a series

Every series has the label \`scope\`, the name of the cluster, as Patroni's own metrics have it. So one Prometheus job
can scrape the Pointsmen of many clusters: \`sum by (scope, pool) (pointsman_held_clients)\` needs no join, an alert
names its cluster, and no aggregation mixes two. Group by \`scope\` wherever several Pointsmen are aggregated. Until
the name is known (within the first second, unless \`cluster.scope\` gives it) the label is absent.

Several Pointsmen of one cluster report the same facts, each as it sees them. Aggregate with \`max\` what they report of
the cluster (\`max by (scope, member) (pointsman_member_replication_lag_bytes)\`), with \`sum\` what each of them has
(sessions, clients, bytes).`;
const NOTES = `- **Availability of a pool**: \`pointsman_pool_no_route_seconds_total\` is exact, also between two
  scrapes, and contains the outage that is running. Its causes \`switchover\`, \`restart\` and \`drained\`
  are planned.
- **Open files**: \`process_open_fds\` beside \`process_max_fds\`, of the main process. \`pointsman_sessions_limit\`
  is lower than \`client.max_sessions\` where open files allow fewer, in all workers together.
- **Sessions by pool**: subtract \`pointsman_sessions_closed_total\` from \`pointsman_sessions_started_total\`.
  \`pointsman_listener_accepted_total\` counts at the pool of the listener, which \`app@ro\` may leave.
- **The primary**: \`pointsman_primary_info\` is the member that gets the writes; \`role\` of
  \`pointsman_member_info\` is what each member reports of itself.`;

test('deploy/metrics.md lists every metric with its type, labels and meaning', async () => {
  const families = familiesOf(await exposition()).filter(({ name }) => name.startsWith('pointsman_'));
  const rows = families.map(({ name, help, type, labels }) => row(code([name]), type, code([...labels.keys()]), help));
  const values = families.flatMap(({ name, labels }) =>
    [...labels]
      .filter(
        ([label]) => !OPEN_LABELS.includes(label) && !/^pointsman_(?:dials_total|probes_total|member_info)$/.test(name),
      )
      .map(([label, found]) => row(code([name]), code([label]), code([...found].toSorted()))),
  );
  const page = `# Metrics

${UNITS}
Every series of a closed list exists from the start. Series of a member are removed when it leaves the cluster.
\`process_*\` and \`nodejs_*\` are the metrics of the main process, under prom-client's names. Its gauges that end in
\`_total\` are left out: \`promtool check metrics\` reports nothing.

This page is generated from the program and held in step with it by a test.

${SCOPE}

## Reading them

${NOTES}

## All metrics

| Metric | Type | Labels | Meaning |
| --- | --- | --- | --- |
${rows.toSorted().join('\n')}

## Values of labels

${OUTCOMES}

| Metric | Label | Values |
| --- | --- | --- |
${values.toSorted().join('\n')}
`;
  await expect(page).toMatchFileSnapshot('../../../deploy/metrics.md');
});
