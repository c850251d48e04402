// The client of the platform on a strict fake: the bytes it sends, how often, and its errors.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiError } from '../../../../src/http/request.ts';
import type { PlatformPolicy } from '../../../../src/config/schema/platform-section.ts';
import type { SkillDialect } from '../../../../src/model/skill-dialect.ts';
import { createPlatformClient } from '../../../../src/platform/client/client.ts';
import type { PlatformClient } from '../../../../src/platform/client/client.ts';
import type { PlatformAccess } from '../../../../src/platform/client/send.ts';
import type { FakeAnswer } from '../../../support/branches/fake-server.ts';
import { startFakePlatform } from '../../../support/platform/fake-platform.ts';
import type { FakePlatform } from '../../../support/platform/fake-platform.ts';
import { EagerClock } from '../../../support/waiting/eager-clock.ts';
import { expectNoCanary, PLATFORM_KEY } from '../../../support/values/canaries.ts';

const KEY = PLATFORM_KEY;
const encode = (text: string) => new TextEncoder().encode(text);
const SKILL = [
  { name: 'runbook/SKILL.md', mediaType: 'text/markdown', content: encode('---\nname: runbook\n---\n') },
  { name: 'runbook/templates/é "1".md', mediaType: 'text/markdown', content: encode('Zeit: früh\n') },
];
const FILE = { name: 'i-1.txt', mediaType: 'text/plain', content: encode('An incident.\n') };

let folder: string;
let fake: FakePlatform;
let clock: EagerClock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-platform-client-'));
  await writeFile(join(folder, 'key'), `${KEY}\n`);
  fake = await startFakePlatform();
  clock = new EagerClock();
});
afterEach(async () => {
  await fake.stop();
  await rm(folder, { recursive: true });
  expect(fake.violations).toEqual([]);
});

function client(policy: Partial<PlatformPolicy> = {}, access: Partial<PlatformAccess> = {}): PlatformClient {
  const { quirks, url } = fake;
  return createPlatformClient({
    policy: {
      url,
      apiKeyFile: join(folder, 'key'),
      authHeader: quirks.authHeader,
      headers: {},
      betaHeader: quirks.betaHeader,
      skills: { dialect: 'general', filesField: quirks.skillsField, extraFields: {} },
      files: { field: quirks.fileField, extraFields: {} },
      ...policy,
    },
    clock,
    random: () => 0.5,
    ...access,
  });
}

const inDialect = (dialect: SkillDialect) =>
  client({ skills: { dialect, filesField: fake.quirks.skillsField, extraFields: {} } });

async function errorOf(run: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`no ApiError: ${String(error)}`);
  return error;
}

test('a skill is sent file by file, as it is on disk', async () => {
  await client().createSkill(SKILL);
  expect(fake.uploads).toEqual([
    [
      { name: 'runbook/SKILL.md', mediaType: 'text/markdown', text: '---\nname: runbook\n---\n' },
      { name: 'runbook/templates/é "1".md', mediaType: 'text/markdown', text: 'Zeit: früh\n' },
    ],
  ]);
});

test('a file of any bytes arrives as it is', async () => {
  const content = Uint8Array.from({ length: 512 }, (_, i) => i % 256);
  await client().uploadFile({ ...FILE, content });
  expect(fake.requests[0]?.bytes.includes(Buffer.from(content))).toBe(true);
});

test('extra fields and extra headers of the configuration are sent', async () => {
  fake.script = () => ({ status: 200, document: { id: 'file_1' } });
  const files = { field: 'upload', extraFields: { purpose: 'incident' } };
  await client({ headers: { 'X-Version': '2026-01-01' }, files }).uploadFile(FILE);
  const [request] = fake.requests;
  expect(request?.headers['x-version']).toBe('2026-01-01');
  expect(request?.body).toMatch(/name="purpose"\r\n\r\nincident\r\n/);
  expect(request?.body).toMatch(/name="upload"; filename="i-1.txt"\r\nContent-Type: text\/plain/i);
});

test.each<[SkillDialect, string | undefined]>([
  ['general', undefined],
  ['beta', 'skills-2025-10-02'],
])('dialect %s: every call about skills has the beta value %s', async (dialect, beta) => {
  const { id } = await inDialect(dialect).createSkill(SKILL);
  const { version } = await inDialect(dialect).createVersion(id, SKILL);
  await inDialect(dialect).skills();
  await inDialect(dialect).skill(id);
  await inDialect(dialect).versions(id);
  await inDialect(dialect).version(id, version);
  await inDialect(dialect).deleteVersion(id, version);
  await inDialect(dialect).deleteSkill(id);
  expect(fake.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/skills',
    `POST /v1/skills/${id}/versions`,
    'GET /v1/skills',
    `GET /v1/skills/${id}`,
    `GET /v1/skills/${id}/versions`,
    `GET /v1/skills/${id}/versions/${version}`,
    `DELETE /v1/skills/${id}/versions/${version}`,
    `DELETE /v1/skills/${id}`,
  ]);
  expect(new Set(fake.requests.map(({ headers }) => headers['vendor-beta']))).toEqual(new Set([beta]));
});

test('files and agents have their own beta values; the body of an agent is that of the caller', async () => {
  await client().uploadFile(FILE);
  const text = '{ "name": "on-call", "tools": [], "id": 12345678901234567890, "rate": 1.0 }\n';
  expect(await client().createAgent(text)).toBeUndefined();
  expect(fake.requests.map(({ headers }) => headers['vendor-beta'])).toEqual([
    'files-api-2025-04-14',
    'managed-agents-2026-04-01',
  ]);
  // A number that JavaScript does not have stays as it is.
  expect(fake.requests.at(-1)?.body).toBe(text);
});

test.each<FakeAnswer>([{ status: 429 }, { status: 500 }, { status: 502 }, { status: 503 }, 'lost'])(
  'a read that is answered with %j is repeated, with pauses by chance',
  async (trouble) => {
    fake.script = () => (fake.requests.length < 3 ? trouble : undefined);
    expect((await client().skills()).entries).toHaveLength(3);
    expect(fake.requests).toHaveLength(3);
    expect(clock.pauses).toEqual([375, 750]);
  },
);

test('a read is tried three times, then it is an error', async () => {
  fake.script = () => ({ status: 503 });
  expect(await errorOf(client().skills())).toMatchObject({ failure: 'server_error', status: 503 });
  expect(fake.requests).toHaveLength(3);
});

test.each([301, 400, 401, 403, 404, 422])('a read that is answered with %i is not repeated', async (status) => {
  fake.script = () => ({ status });
  const { message } = await errorOf(client().skills());
  expect(message).toMatch(`GET /v1/skills of the platform: status ${status}`);
  expect(fake.requests).toHaveLength(1);
});

const CHANGES: readonly (readonly [string, (one: PlatformClient) => Promise<unknown>])[] = [
  ['createSkill', (one) => one.createSkill(SKILL)],
  ['createVersion', (one) => one.createVersion('skill_1', SKILL)],
  ['deleteSkill', (one) => one.deleteSkill('skill_1')],
  ['deleteVersion', (one) => one.deleteVersion('skill_1', '7')],
  ['uploadFile', (one) => one.uploadFile(FILE)],
  ['createAgent', (one) => one.createAgent('{}')],
];

test.each(CHANGES)('%s is sent once, and its error admits the doubt', async (_, change) => {
  for (const answer of [{ status: 500 }, { status: 503 }, 'lost'] as const) {
    fake.script = () => answer;
    const before = fake.requests.length;
    const { message } = await errorOf(change(client()));
    expect(fake.requests.length - before).toBe(1);
    expect(message).toContain('the platform may have done it');
  }
  fake.script = () => ({ status: 422 });
  expect((await errorOf(change(client()))).message).not.toContain('may have');
});

test('a change that has certainly not arrived is no doubt', async () => {
  const error = await errorOf(client({ url: 'http://127.0.0.1:1' }).uploadFile(FILE));
  expect(error).toMatchObject({ failure: 'unreachable', wasSent: false });
  expect(error.message).toBe('POST /v1/files of the platform: connection refused (ECONNREFUSED)');
});

test('a change without an answer in time is a doubt', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  fake.script = () => promise;
  const error = await errorOf(client({}, { timeoutMs: 50 }).uploadFile(FILE));
  expect(error).toMatchObject({ failure: 'timeout', wasSent: true });
  expect(error.message).toContain('the platform may have done it');
  resolve(undefined);
});

test('an error shows the body of the answer, without secrets', async () => {
  const text = `name: bad; your key ${KEY}; postgresql://svc:hidden-1@db/app; token=hidden-2 ${'etc. '.repeat(500)}`;
  fake.script = () => ({ status: 400, document: { error: { message: text } } });
  const { message } = await errorOf(client().createSkill(SKILL));
  expect(message).toMatch(/^POST \/v1\/skills of the platform: status 400; it answers: .*name: bad; your key \*\*\*/);
  expect(message).not.toContain('hidden');
  expectNoCanary('the message', message);
  expect(message.length).toBeLessThan(600);
});

test('of `Bearer KEY` the key alone is a secret, too', async () => {
  await writeFile(join(folder, 'key'), `Bearer ${KEY}\n`);
  fake.script = () => ({ status: 403, document: `the key ${KEY} is expired` });
  const { message } = await errorOf(client({ authHeader: 'Authorization' }).skills());
  expect(fake.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(message).toContain('the key *** is expired');
});

test('a key is read again for each request', async () => {
  const one = client();
  await one.skills();
  await writeFile(join(folder, 'key'), 'another-key');
  expect(await errorOf(one.skills())).toMatchObject({ failure: 'denied' });
});

test.each([
  ['\n', 'holds no key'],
  ['a\nb', 'holds no key'],
  ['schlüssel', 'holds no key'],
])('with a key file of %j nothing is sent', async (content, expected) => {
  await writeFile(join(folder, 'key'), content);
  const error = await errorOf(client().createSkill(SKILL));
  expect(error).toMatchObject({ failure: 'local', wasSent: false });
  expect(error.message).toContain(expected);
  expect(fake.requests).toEqual([]);
});

test('without a key file nothing is sent', async () => {
  const { message } = await errorOf(client({ apiKeyFile: join(folder, 'none') }).skills());
  expect(message).toContain('none cannot be read: there is no such file');
  expect(fake.requests).toEqual([]);
});

test.each<[unknown, (one: PlatformClient) => Promise<unknown>, string]>([
  [{}, (one) => one.createSkill(SKILL), 'with no id of the skill: look it up in the list of skills'],
  ['<html>', (one) => one.createVersion('skill_1', SKILL), 'with no version: look it up in the list of versions'],
  [{ id: 'skill_1' }, (one) => one.uploadFile(FILE), 'with no id of the file'],
  [{ data: {} }, (one) => one.skills(), 'not with a list of skills'],
])('a success with %j', async (document, run, expected) => {
  fake.script = () => ({ status: 200, document });
  const error = await errorOf(run(client()));
  expect(error).toMatchObject({ failure: 'invalid_answer', wasSent: true });
  expect(error.message).toContain(expected);
});

test.each<[string, (one: PlatformClient) => Promise<unknown>]>([
  ['it begins with skill_', (one) => one.deleteSkill('runbook')],
  ['it begins with skill_', (one) => one.skill('skill_1/versions')],
  ['is no version of a skill', (one) => one.deleteVersion('skill_1', '..')],
  ['is no version of a skill', (one) => one.version('skill_1', '')],
])('%s: nothing is sent', async (expected, run) => {
  expect((await errorOf(run(client()))).message).toContain(expected);
  expect(fake.requests).toEqual([]);
});
