// Bodies of answers as JSON: of members, of the Kubernetes API, of storage node and console, of a model platform, and
// the documents of another version of Pointsman.
import assert from 'node:assert/strict';
import { z } from 'zod';
import { entriesOf, optional, optionalLsn, required } from '../../../src/branches/api/fields.ts';
import { judge, ruleOut } from '../../../src/core/verdict.ts';
import { looseReader } from '../../../src/documents/loose-reader.ts';
import { statusDocument } from '../../../src/documents/status-document.ts';
import { AnswerBody } from '../../../src/http/answer-body.ts';
import { excerpt } from '../../../src/http/excerpt.ts';
import { incidentText } from '../../../src/incidents/incident-text.ts';
import { redacted } from '../../../src/incidents/redact.ts';
import { incidentDocument } from '../../../src/incidents/schema.ts';
import { LineReader } from '../../../src/kubernetes/lines.ts';
import { readEvent, readingPods, readingSlices, readList } from '../../../src/kubernetes/kubernetes-documents.ts';
import { parseCheck } from '../../../src/model/check.ts';
import { parseJson } from '../../../src/model/json.ts';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import { readHistory } from '../../../src/patroni/history.ts';
import { readNodeStatus } from '../../../src/patroni/node-status.ts';
import { readRestartState } from '../../../src/patroni/restart-state.ts';
import {
  readFileId,
  readList as readPlatformList,
  readSkill,
  readVersion,
} from '../../../src/platform/client/records.ts';
import { readWalReport } from '../../../src/wire/talk/wal-report.ts';
import { piecesOf, type FuzzTarget } from '../target.ts';

/** The limit for a body of a member. */
const MOST_BYTES = 256 * 1024;
const SECRET = 'S3cretOfTheTest';
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

function isPosition(value: unknown): boolean {
  return value === undefined || value === 'invalid' || (Number.isSafeInteger(value) && Number(value) >= 0);
}

function ofMember(json: unknown): void {
  const node = readNodeStatus(json);
  if (node.kind === 'status') {
    const { location, received, replayed, timeline, state } = node.status;
    for (const one of [location, received, replayed]) assert(isPosition(one));
    assert(timeline === undefined || (Number.isInteger(timeline) && timeline > 0 && timeline < 2 ** 32));
    if (state !== undefined) checkShown(state);
    for (const text of ['/primary', '/replica?lag=1MB', '/leader', '/read-only?tag_a=b', '/sync', '/health']) {
      const parsed = parseCheck(text);
      if (parsed.kind !== 'check') continue;
      judge(parsed.check, 200, node.status);
      judge(parsed.check, 503, node.status);
      ruleOut(parsed.check, node.status);
    }
  }
  const cluster = readClusterDocument(json);
  if (cluster.kind === 'cluster') {
    for (const { name, port, timeline, lag } of cluster.cluster.members) {
      checkShown(name, 256);
      assert(port === undefined || (port >= 1 && port <= 65_535));
      assert(timeline === undefined || timeline > 0);
      assert(lag === undefined || lag >= 0);
    }
  } else checkShown(cluster.why, 300);
  const history = readHistory(json);
  if (history.kind === 'history') for (const { reason, lsn } of history.entries) assert(isPosition(lsn), reason);
  readRestartState(json);
}

function checkShown(text: string, most = 128): void {
  assert(text.length <= most && !UNPRINTABLE.test(text), JSON.stringify(text));
}

const readPod = readingPods('api', 'role');
const readSlice = readingSlices('pg', 8008);

function ofKubernetes(json: unknown): void {
  for (const entry of [json, ...(readList(json)?.items ?? [])]) {
    for (const place of [...(readPod(entry)?.places ?? []), ...(readSlice(entry)?.places ?? [])]) {
      assert(typeof place.ip === 'string' && place.ip.length <= 1_024);
    }
  }
  const event = readEvent(json);
  if (event?.kind === 'error') assert(event.message.length <= 300);
}

const branches = z.object({
  branches: entriesOf(z.object({ id: required, name: required, parent_id: optional, parent_lsn: optionalLsn })),
});

function ofPlatform(json: unknown): void {
  const skill = readSkill(json);
  if (skill !== undefined) assert(/^skill_[\x21-\x7e]*$/.test(skill.id));
  readVersion(json);
  readFileId(json);
  readPlatformList(json, readSkill);
}

const readStatus = looseReader(statusDocument, { needed: ['members pools'] });

function ofPointsman(json: unknown): void {
  readStatus.safeParse(json);
  const incident = incidentDocument.safeParse(json);
  if (!incident.success) return;
  // Written and read again, it is the same.
  assert.deepEqual(incidentDocument.parse(JSON.parse(JSON.stringify(incident.data))), incident.data);
  assert(!UNPRINTABLE.test(incidentText(redacted(incident.data)).replaceAll('\n', '')));
}

async function check(input: Uint8Array): Promise<void> {
  const body = new AnswerBody(MOST_BYTES);
  for (const piece of piecesOf(input)) assert.equal(body.add(piece), undefined);
  const text = body.text();
  assert.equal(text, new TextDecoder().decode(input));
  const reader = new LineReader(MOST_BYTES);
  const lines = piecesOf(input).flatMap((piece) => [...reader.take(piece)]);
  assert.deepEqual(lines, [...new LineReader(MOST_BYTES).take(input)]);
  const told = excerpt(`${text} ${SECRET}`, [SECRET]);
  assert(told.length <= 500 && !told.includes(SECRET) && !UNPRINTABLE.test(told));
  const json = parseJson(text);
  ofMember(json);
  ofKubernetes(json);
  ofPlatform(json);
  ofPointsman(json);
  readWalReport(json);
  if (text.includes('"branches"')) await branches.safeParseAsync(json);
}

const documents = [
  {
    state: 'running',
    role: 'primary',
    timeline: 3,
    xlog: {
      location: 67419584,
      received_location: '67419584',
      replayed_location: 1,
      replayed_timestamp: null,
      paused: false,
    },
    server_version: 160001,
    postmaster_start_time: '2026-11-01 10:00:00.000+00:00',
    replication: [{ usename: 'replicator', client_addr: '10.0.0.2', sync_state: 'async' }],
    patroni: { version: '4.0.4', scope: 'demo', name: 'pg-1' },
    database_system_identifier: '7437',
    tags: { noloadbalance: true, zone: 'a', n: 1 },
    pause: true,
    dcs_last_seen: 1730000000,
    pending_restart: true,
    pending_restart_reason: { max_connections: { old_value: '100', new_value: '200' } },
    scheduled_restart: { schedule: '2026-11-01T10:00:00+00:00' },
  },
  {
    members: [
      {
        name: 'pg-1',
        role: 'leader',
        state: 'running',
        api_url: 'http://10.0.0.1:8008/patroni',
        host: '10.0.0.1',
        port: 5432,
        timeline: 3,
      },
      {
        name: 'pg-2',
        role: 'sync_standby',
        state: 'streaming',
        host: '10.0.0.2',
        port: '5432',
        timeline: 3,
        lag: 0,
        tags: { a: 'b' },
      },
    ],
    scope: 'demo',
    pause: true,
    scheduled_switchover: { at: '2026-11-01T10:00:00+00:00', from: 'pg-1', to: 'pg-2' },
  },
  [
    [1, 67419584, 'no recovery target specified', '2026-11-01T10:00:00+00:00', 'pg-1'],
    [2, '1', 'x'],
  ],
  {
    metadata: { resourceVersion: '1', continue: '' },
    items: [
      {
        metadata: { name: 'pg-0', namespace: 'db', labels: { role: 'primary' } },
        spec: { hostname: 'pg-0', subdomain: 'pg', containers: [{ ports: [{ name: 'api', containerPort: 8008 }] }] },
        status: { phase: 'Running', podIP: '10.0.0.1' },
      },
    ],
  },
  {
    type: 'MODIFIED',
    object: {
      metadata: { name: 's', resourceVersion: '2', namespace: 'db' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], hostname: null }],
      ports: [{ name: 'api', port: 8008 }],
    },
  },
  { type: 'ERROR', object: { message: 'too old', code: 410 } },
  { branches: [{ id: 'br-1', name: 'main', parent_id: null, parent_lsn: '0/16B3748' }] },
  {
    data: [{ id: 'skill_1', name: 'x', source: { type: 'custom' }, latest_version_id: '1' }],
    has_more: false,
    next_page: null,
  },
  { replayed: '50332000', ended: '740', below: '751' },
];

export const documentsTarget: FuzzTarget = {
  name: 'documents',
  covers: [
    'patroni/',
    'kubernetes/',
    'branches/api/fields',
    'platform/client/records',
    'documents/loose',
    'http/',
    'model/',
    'core/verdict',
    'core/evidence',
    'wire/talk/wal-report',
  ],
  seeds: documents.map((one) => Buffer.from(JSON.stringify(one))),
  words: [
    ...new Set(documents.flatMap((one) => [...JSON.stringify(one).matchAll(/"[a-z_]+":/g)].map(([key]) => key))),
    'null,',
    'true,',
    '-1,',
    '0,',
    '1e999,',
    '4294967296,',
    '9007199254740993,',
    '"unknown",',
    '"-1",',
    '"standby leader",',
    '"master",',
    '{"__proto__":{"a":1}},',
    '"constructor":',
    '"\\ud800",',
    '"\\u202e\\n",',
    '[[[[',
    '\xef\xbb\xbf',
    'NaN',
    '\n',
    '"api_version":1,"refused_members":[],',
  ],
  check,
};
