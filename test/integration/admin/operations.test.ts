// The operations of the admin port: the permission, the format and the effect of each. An operation starts only after
// every check.
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Operations, OwnOperationOutcome } from '../../../src/admin/endpoints/operation-endpoints.ts';
import type { Token } from '../../../src/admin/permission.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';

const TOKEN = '0123456789abcdef-secret';
const done: string[] = [];
let outcome: OwnOperationOutcome;
let token: Token;
let admin: Admin;
let port: number;

function does(what: string): OwnOperationOutcome {
  done.push(what);
  return outcome;
}

const operations: Operations = {
  refresh: () => does('refresh'),
  reload: () => Promise.resolve(does('reload')),
  drain: (member) => does(`drain ${member}`),
  resume: (member) => does(`resume ${member}`),
  accept: (kind) => does(`accept ${kind}`),
};

beforeEach(async () => {
  done.length = 0;
  outcome = { kind: 'done', result: { merged: false } };
  token = { kind: 'token', value: TOKEN };
  admin = createAdmin(adminOptions({ token: () => Promise.resolve(token), operations }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  ({ port } = listening.address);
});

afterEach(() => admin.close());

interface Asked {
  readonly method?: string;
  readonly authorization?: string;
  readonly type?: string;
  readonly body?: string;
}

async function ask(path: string, asked: Asked = {}): Promise<{ status: number; body: unknown; headers: Headers }> {
  const { method = 'POST', authorization = `Bearer ${TOKEN}`, type = 'application/json', body = '{}' } = asked;
  const headers = { ...(authorization === '' ? {} : { authorization }), 'content-type': type };
  const isRead = method === 'GET';
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...(isRead ? {} : { body }) });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

describe('applied', () => {
  test.each([
    ['/refresh', 'refresh'],
    ['/reload', 'reload'],
    ['/members/pg-1/drain', 'drain pg-1'],
    ['/members/pg-1/resume', 'resume pg-1'],
    ['/members/a%2Fb%20c/drain', 'drain a/b c'],
    ['/accept/timeline', 'accept timeline'],
    ['/accept/cluster-identity', 'accept cluster_identity'],
  ])('POST %s', async (path, what) => {
    const { status, body } = await ask(path);
    expect([status, body, done]).toEqual([200, { api_version: 1, merged: false }, [what]]);
  });

  test('a body is optional, and a charset is accepted', async () => {
    expect((await ask('/refresh', { body: '', type: 'Application/JSON; charset=utf-8' })).status).toBe(200);
  });

  test('an unknown member: the answer lists the known ones', async () => {
    outcome = { kind: 'unknown_member', known: ['pg-1', 'pg-2'] };
    const { status, body } = await ask('/members/pg-9/drain');
    expect([status, body]).toEqual([
      404,
      { api_version: 1, error: 'unknown member pg-9: did you mean pg-1? The members are pg-1, pg-2' },
    ]);
  });

  test('refused for now: the reason, and every problem', async () => {
    outcome = { kind: 'refused', why: 'nothing changed', problems: ['a', 'b'] };
    const { status, body } = await ask('/reload');
    expect([status, body]).toEqual([409, { api_version: 1, error: 'nothing changed', problems: ['a', 'b'] }]);
  });
});

describe('refused before any effect', () => {
  afterEach(() => expect(done).toEqual([]));

  test.each(['/refresh', '/reload', '/members/pg-1/drain'])('GET %s', async (path) => {
    const { status, headers, body } = await ask(path, { method: 'GET' });
    expect([status, headers.get('allow'), body]).toEqual([
      405,
      'POST',
      { api_version: 1, error: `${path} accepts only POST` },
    ]);
  });

  test('without a configured token: the setting that adds one', async () => {
    token = { kind: 'none' };
    const { status, body } = await ask('/refresh');
    expect(status).toBe(403);
    expect(body).toEqual({
      api_version: 1,
      error: expect.stringContaining('admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE)'),
    });
  });

  test('with an unreadable token: the reason', async () => {
    token = { kind: 'unusable', why: 'admin.token_file x cannot be read: there is no such file' };
    const { status, body } = await ask('/refresh');
    expect([status, body]).toEqual([
      403,
      { api_version: 1, error: `operations are disabled: ${'why' in token && token.why}` },
    ]);
  });

  test.each([
    ['no token', ''],
    ['another scheme', `Basic ${TOKEN}`],
    ['another token', 'Bearer 0123456789abcdef-secreT'],
    ['the beginning of it', 'Bearer 0123456789abcdef'],
    ['more than it', `Bearer ${TOKEN}x`],
  ])('%s: 401, and the answer does not contain the token', async (_, authorization) => {
    const { status, headers, body } = await ask('/refresh', { authorization });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(JSON.stringify(body)).not.toContain(TOKEN);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])(
    'content type "%s": 415',
    async (type) => {
      const { status, body } = await ask('/refresh', { type });
      expect([status, body]).toEqual([
        415,
        { api_version: 1, error: expect.stringContaining('content-type: application/json') },
      ]);
    },
  );

  test.each(['[]', 'null', '{', '"refresh"', '{ "member": "pg-1" }'])('body %s: 400', async (body) => {
    expect((await ask('/refresh', { body })).status).toBe(400);
  });

  test('a body over the limit: 413', async () => {
    const { status, body } = await ask('/refresh', { body: `"${'x'.repeat(5000)}"` });
    expect([status, body]).toEqual([413, { api_version: 1, error: expect.stringContaining('exceeds 4096 bytes') }]);
  });

  test('an endless body has no effect, and does not block the server', async () => {
    const head = `POST /refresh HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n`;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    await admin.close();
    await ended;
  });

  test.each([
    '/members//drain',
    '/members/pg-1',
    '/members/%zz/drain',
    '/members/pg-1/drain/',
    '/accept',
    '/accept/scope',
  ])('%s: an unknown path', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });
});
