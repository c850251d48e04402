// `pointsman incidents list` and `show` against an admin server over real sockets: the table, the text, the document,
// and the exit codes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { runCli } from '../../../src/cli/program.ts';
import { incidentDocument } from '../../../src/incidents/schema.ts';
import type { IncidentDocument } from '../../../src/incidents/schema.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { AN_OUTAGE } from '../../support/values/an-outage.ts';
import { anIncident, anIncidentEntry } from '../../support/values/incidents.ts';

const TOKEN = '0123456789abcdef-operator';
const ENTRIES = [
  anIncidentEntry({
    id: '2026-11-22-2',
    state: 'open',
    settled_at: null,
    no_write_route_seconds: null,
    planned: 'unknown',
  }),
  anIncidentEntry(),
];
let entries = ENTRIES;
const admin = createAdmin(
  adminOptions({
    token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
    incidents: {
      list: () => entries,
      currentId: () => undefined,
      get: (id, { isUnredacted = false }) =>
        Promise.resolve(anIncident({ id, redaction: { redacted: !isUnredacted, note: 'a note' } })),
      text: (id, { isUnredacted = false }) =>
        Promise.resolve(
          entries.some((entry) => entry.id === id)
            ? `Incident ${id}${isUnredacted ? ' of 10.0.0.7' : ''}\n`
            : undefined,
        ),
    },
  }),
);
let address: string;

beforeAll(async () => {
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
});
afterAll(() => admin.close());
beforeEach(() => {
  entries = ENTRIES;
});

async function cli(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let [out, err] = ['', ''];
  const io = {
    env: { POINTSMAN_ADMIN_ADDRESS: address, TZ: 'UTC', ...env },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
  };
  const code = await runCli(['incidents', ...argv], io, cliParts());
  return { code, out, err };
}

test('list: a table that fits 80 columns', async () => {
  const { code, out } = await cli(['list']);
  expect(code).toBe(0);
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^ID {12}STATE {4}BEGAN {12}NO WRITES {2}WHAT$/);
  expect(lines[1]).toMatch(/^2026-11-22-2 {2}open {5}11-22 \d\d:\d\d:\d\dZ {10}- {2}pg-1 was lost; pg-2 is the$/);
  expect(out).toMatch(/^2026-11-22-1 {2}settled {2}11-22 \d\d:\d\d:\d\dZ {6}3\.9 s {2}pg-1 was lost/m);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test('list: a wide terminal also shows the plan; --json is the document', async () => {
  expect((await cli(['list'], { COLUMNS: '140' })).out).toMatch(
    /NO WRITES {2}KIND {6}WHAT\n.* unclear .*\n.* incident /,
  );
  const { incidents } = JSON.parse((await cli(['list', '--json'])).out);
  expect(incidents).toMatchObject([{ id: '2026-11-22-2' }, { id: '2026-11-22-1', no_write_route_seconds: 3.9 }]);
});

test('list: an incident that was open when Pointsman ended is interrupted', async () => {
  entries = [anIncidentEntry({ settled_at: null })];
  expect((await cli(['list'])).out).toMatch(/^2026-11-22-1 {2}interrupted {2}/m);
});

test('list: none', async () => {
  entries = [];
  expect(await cli(['list'])).toEqual({ code: 0, out: 'no incidents\n', err: '' });
});

test('show: a text; --json prints the document of the published schema', async () => {
  expect(await cli(['show', 'latest'])).toEqual({ code: 0, out: 'Incident 2026-11-22-2\n', err: '' });
  const document = incidentDocument.parse(JSON.parse((await cli(['show', '2026-11-22-1', '--json'])).out));
  expect(document.redaction.redacted).toBe(true);
});

test('show --full needs the token', async () => {
  const { code, err } = await cli(['show', 'latest', '--full']);
  expect([code, err]).toEqual([2, expect.stringContaining('this command needs the admin token')]);
  const env = { POINTSMAN_ADMIN_TOKEN: TOKEN };
  expect((await cli(['show', 'latest', '--full'], env)).out).toBe('Incident 2026-11-22-2 of 10.0.0.7\n');
  const { redaction } = incidentDocument.parse(
    JSON.parse((await cli(['show', 'latest', '--full', '--json'], env)).out),
  );
  expect(redaction.redacted).toBe(false);
});

test('show: an unknown incident, and no Pointsman', async () => {
  expect(await cli(['show', '2026-01-01-1'])).toEqual({
    code: 1,
    out: '',
    err: 'pointsman: unknown incident 2026-01-01-1: the incidents are 2026-11-22-2, 2026-11-22-1\n',
  });
  const { code, err } = await cli(['list', '--admin', '127.0.0.1:1']);
  expect([code, err]).toEqual([1, expect.stringContaining('no answer from 127.0.0.1:1 (connection refused)')]);
});

describe('from a directory', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-incidents-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const write = (document: IncidentDocument): void =>
    writeFileSync(join(directory, `${document.id}.json`), JSON.stringify(document));
  const cut = {
    id: 'r1-2',
    time: AN_OUTAGE.opened_at,
    event: 'session_closed',
    message: 'session 7: 10.0.0.7:5000 on pg-1 closed after 12 s: backend_closed',
    fields: { client: '10.0.0.7:5000', user: 'app', pool: 'write', member: 'pg-1' },
  };
  write(anIncident({ id: '2026-11-21-9' }));
  write({ ...AN_OUTAGE, redaction: { redacted: false, note: '' }, events: [cut] });

  test('list, without any Pointsman', async () => {
    const { code, out } = await cli(['list', '--directory', directory, '--json']);
    expect(code).toBe(0);
    const { incidents } = JSON.parse(out);
    expect(incidents.map(({ id }: { id: string }) => id)).toEqual(['2026-11-22-1', '2026-11-21-9']);
  });

  test('show: redacted, and with --full as it is, without a token', async () => {
    const { out } = await cli(['show', 'latest', '--directory', directory]);
    expect(out).toContain('2026-11-22-1');
    expect(out).not.toContain('10.0.0.7');
    const redacted = await cli(['show', 'latest', '--directory', directory, '--json']);
    expect(incidentDocument.parse(JSON.parse(redacted.out)).events[0]?.fields).toMatchObject({ client: 'client-1' });
    const full = await cli(['show', '2026-11-22-1', '--directory', directory, '--json', '--full']);
    expect(incidentDocument.parse(JSON.parse(full.out)).events).toEqual([cut]);
  });

  test('a Pointsman that does not answer: the directory of its configuration', async () => {
    const env = {
      POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008',
      POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:1',
      POINTSMAN_INCIDENTS_DIRECTORY: directory,
    };
    const { code, out, err } = await cli(['list'], env);
    expect([code, out]).toEqual([0, expect.stringContaining('2026-11-21-9')]);
    expect(err).toContain(`These are the files in ${directory} (incidents.directory).`);
  });

  test('an unknown incident, and no such directory', async () => {
    expect(await cli(['show', '2026-01-01-1', '--directory', directory])).toEqual({
      code: 1,
      out: '',
      err: `pointsman: unknown incident 2026-01-01-1: the incidents in ${directory} are 2026-11-22-1, 2026-11-21-9\n`,
    });
    expect(await cli(['list', '--directory', '/does/not/exist'])).toEqual({
      code: 1,
      out: '',
      err: 'pointsman: /does/not/exist cannot be read: there is no such file\n',
    });
  });
});
