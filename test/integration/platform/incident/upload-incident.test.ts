// `pointsman incidents upload` and `request`: from an admin server and from a directory, to the sandbox's platform.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAdmin } from '../../../../src/admin/admin-server.ts';
import { redacted } from '../../../../src/incidents/redact.ts';
import type { IncidentDocument } from '../../../../src/incidents/schema.ts';
import { incidentText } from '../../../../src/incidents/incident-text.ts';
import { adminOptions } from '../../../support/fakes/admin-options.ts';
import { PlatformLab } from '../../../support/platform/platform-lab.ts';
import { AN_OUTAGE } from '../../../support/values/an-outage.ts';
import { anIncidentEntry } from '../../../support/values/incidents.ts';

const SECRETS = ['10.9.8.7', 'alice', 'payroll'];
/** As a file has it: with the addresses and names of clients. */
const OUTAGE: IncidentDocument = {
  ...AN_OUTAGE,
  redaction: { redacted: false, note: 'Client addresses, users, databases and applications are shown.' },
  events: [
    {
      // The finding about sessions that were cut has this id.
      id: 'r1-4',
      time: '2026-11-22T14:00:00.000Z',
      event: 'session_closed',
      message: 'session 7: 10.9.8.7:5555 on pg-1 closed after 12 s: backend_closed',
      fields: {
        pool: 'write',
        member: 'pg-1',
        reason: 'backend_closed',
        client: '10.9.8.7:5555',
        user: 'alice',
        database: 'payroll',
      },
    },
    ...AN_OUTAGE.events,
  ],
};
const { id: ID } = OUTAGE;
const ASK = ['--model', 'vendor-opus-5', '--max-tokens', '2000'];

let home = '';
let files = '';
let lab: PlatformLab;
let document = OUTAGE;
let admin: ReturnType<typeof createAdmin>;
let address = '';

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'pointsman-upload-'));
  files = join(home, 'incidents');
  mkdirSync(files);
  writeFileSync(join(files, `${ID}.json`), JSON.stringify(OUTAGE));
  document = OUTAGE;
  lab = await PlatformLab.start(home);
  admin = createAdmin(
    adminOptions({
      incidents: {
        list: () => [anIncidentEntry({ id: ID, state: document.state })],
        currentId: () => undefined,
        get: (id, { isUnredacted = false }) =>
          Promise.resolve(id === ID ? (isUnredacted ? document : redacted(document)) : undefined),
        text: (id, { isUnredacted = false }) =>
          Promise.resolve(id === ID ? incidentText(isUnredacted ? document : redacted(document)) : undefined),
      },
    }),
  );
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
});
afterEach(async () => {
  await admin.close();
  await lab.close();
  rmSync(home, { recursive: true, force: true });
});

const upload = (...argv: readonly string[]) => lab.run('incidents', 'upload', ...argv);
const ask = (...argv: readonly string[]) => lab.run('incidents', 'request', ...argv, ...ASK);
const fileIn = (out: string): string => /file_\w+/.exec(out)?.[0] ?? '';

test('from a running Pointsman: one part, ID.txt, text/plain, redacted; a second upload makes no request', async () => {
  const first = await upload('latest', '--admin', address);
  expect(first).toMatchObject({ code: 0, out: expect.stringContaining(`incident ${ID}: stored as file_`) });
  const body = lab.lastBody();
  expect(body.match(/content-disposition/gi)).toHaveLength(1);
  expect(body).toContain(`filename="${ID}.txt"`);
  expect(body).toMatch(/content-type: text\/plain/i);
  expect(body).toContain('user user-1, database database-1');
  for (const secret of SECRETS) expect(body).not.toContain(secret);

  const second = await upload(ID, '--admin', address);
  expect(second.out).toBe(`incident ${ID}: stored already, as ${fileIn(first.out)}; nothing was sent\n`);
  expect(lab.requests()).toEqual(['POST /v1/files']);
  const again = await upload(ID, '--admin', address, '--again');
  expect(fileIn(again.out)).not.toBe(fileIn(first.out));
  expect(lab.requests()).toHaveLength(2);
});

test('an open incident is sent again when it has settled, and only then', async () => {
  document = { ...OUTAGE, state: 'open', settled_at: null };
  const open = await upload(ID, '--admin', address);
  expect(open.out).toContain('it is still open: upload it again when it has settled');
  expect((await upload(ID, '--admin', address)).out).toContain('--again stores it as it is now');
  expect(lab.requests()).toHaveLength(1);
  expect((await ask(ID, '--admin', address)).err).toContain('was open when it was stored');
  document = OUTAGE;
  expect((await upload(ID, '--admin', address)).out).toContain('stored as file_');
  expect((await ask(ID, '--admin', address)).err).toBe('');
  expect(lab.requests()).toHaveLength(2);
});

test('another run of Pointsman with the same id is another incident', async () => {
  await upload(ID, '--admin', address);
  document = { ...OUTAGE, recorder: { ...OUTAGE.recorder, run: 'r2' } };
  expect((await upload(ID, '--admin', address)).out).toContain('stored as file_');
});

test('from the files of a Pointsman that is dead: redacted, and the note is beside the incident', async () => {
  const { code } = await upload('latest', '--directory', files);
  expect(code).toBe(0);
  for (const secret of SECRETS) expect(lab.lastBody()).not.toContain(secret);
  expect(readdirSync(files).toSorted()).toEqual([`${ID}.json`, `${ID}.upload.json`]);
  const listed = await lab.run('incidents', 'list', '--directory', files, '--json');
  expect(JSON.parse(listed.out).incidents).toHaveLength(1);
  expect((await upload('latest', '--directory', files)).out).toContain('nothing was sent');
  expect(await ask('latest', '--directory', files)).toMatchObject({ code: 0 });
});

test('a directory of incidents that is not here is not made: the note is with the user', async () => {
  const elsewhere = join(home, 'not-here');
  const env = { POINTSMAN_ADMIN_ADDRESS: address, POINTSMAN_INCIDENTS_DIRECTORY: elsewhere };
  expect(await lab.runWith(env, 'incidents', 'upload', ID)).toMatchObject({ code: 0 });
  expect(existsSync(elsewhere)).toBe(false);
  expect(existsSync(join(home, 'state', 'pointsman', 'uploads', `${ID}.upload.json`))).toBe(true);
  expect((await lab.runWith(env, 'incidents', 'upload', ID)).out).toContain('nothing was sent');
});

test('a configured directory of incidents has the note', async () => {
  const env = { POINTSMAN_ADMIN_ADDRESS: address, POINTSMAN_INCIDENTS_DIRECTORY: files };
  expect(await lab.runWith(env, 'incidents', 'upload', ID)).toMatchObject({ code: 0 });
  expect(readdirSync(files)).toContain(`${ID}.upload.json`);
  expect(await lab.runWith(env, 'incidents', 'request', ID, ...ASK)).toMatchObject({ code: 0 });
});

test('request: the file and the skill, every beta value, nothing else of us; the platform takes it', async () => {
  const stored = await upload(ID, '--admin', address);
  const published = await lab.run('skill', 'publish', 'deploy/skills/pointsman-runbook', '--create');
  const skill = /skill_\w+/.exec(published.out)?.[0] ?? '';
  const before = lab.requests().length;
  const { code, out, err } = await ask(ID, '--admin', address, '--skill', 'pointsman-runbook', '--question', 'Now?');
  expect([code, err]).toEqual([0, '']);
  expect(lab.requests().length).toBe(before);
  expect(JSON.parse(out)).toEqual({
    headers: { [lab.betaHeader]: expect.stringContaining('files-api-2025-04-14') },
    body: {
      model: 'vendor-opus-5',
      max_tokens: 2000,
      container: { skills: [{ skill_id: skill, version: 'latest' }] },
      tools: [{ type: 'code_execution_20260521', name: 'code_execution' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'file', file_id: fileIn(stored.out) } },
            { type: 'text', text: 'Now?' },
          ],
        },
      ],
    },
  });
  for (const value of ['code-execution-2025-08-25', 'skills-2025-10-02']) expect(out).toContain(value);
  for (const secret of [...SECRETS, lab.apiKey]) expect(out).not.toContain(secret);
  expect(await lab.checkMessage(out)).toMatchObject({ status: 200 });
});

test('request without --skill has no container and no tool; the platform takes it', async () => {
  await upload(ID, '--admin', address);
  const { out } = await ask(ID, '--admin', address);
  expect(out).not.toMatch(/container|code_execution|skills-/);
  expect(out).toContain('The document is an incident that Pointsman recorded.');
  expect(await lab.checkMessage(out)).toMatchObject({ status: 200 });
});

test('request for an incident that is not stored, or with an unknown skill', async () => {
  const absent = await ask(ID, '--admin', address);
  expect(absent).toMatchObject({ code: 1, out: '' });
  expect(absent.err).toContain(`\`pointsman incidents upload ${ID}\` stores it`);
  await upload(ID, '--admin', address);
  const skill = await ask(ID, '--admin', address, '--skill', 'gone');
  expect(skill).toMatchObject({ code: 1, err: expect.stringContaining('gone was not published from here') });
});

test('a key that the platform refuses: its status, no key, and nothing is noted', async () => {
  const key = join(home, 'other-key');
  writeFileSync(key, 'a-wrong-key-0123456789\n');
  const env = { POINTSMAN_PLATFORM_API_KEY_FILE: key };
  const { code, err } = await lab.runWith(env, 'incidents', 'upload', ID, '--admin', address);
  expect(code).toBe(1);
  expect(err).toContain('status 401');
  expect(err).not.toContain('a-wrong-key-0123456789');
  expect((await ask(ID, '--admin', address)).code).toBe(1);
});

test('an unknown incident, and no place for the note: nothing is sent', async () => {
  expect(await upload('2026-01-01-9', '--directory', files)).toMatchObject({
    code: 1,
    err: expect.stringContaining('unknown incident'),
  });
  const homeless = await lab.runWith({ XDG_STATE_HOME: '' }, 'incidents', 'upload', ID, '--admin', address);
  expect(homeless).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was sent') });
  expect(lab.requests()).toEqual([]);
});

test('the key of the platform is in no note', async () => {
  await upload('latest', '--directory', files);
  expect(readFileSync(join(files, `${ID}.upload.json`), 'utf8')).not.toContain(lab.apiKey);
});
