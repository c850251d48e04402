import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/http/request.ts';
import { createStorageClient } from '../../../../src/branches/api/storage-client.ts';
import type { StorageClient } from '../../../../src/branches/api/storage-client.ts';
import { startFakeStorageNode } from '../../../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../../../support/branches/fake-storage-node.ts';
import { close, listen } from '../../../support/sockets/listen.ts';

const ID = 'a'.repeat(32);
const SECRET = 'token-in-a-header';

let folder: string;
let node: FakeStorageNode;
let client: StorageClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-storage-'));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  node = await startFakeStorageNode();
  client = createStorageClient(node, { timeoutMs: 15_000 });
});
afterEach(() => node.stop());

const create = () => client.createTimeline({ id: ID, parentId: node.root, parentLsn: '0/169AD58', pgVersion: 17 });

async function withHeaders(text: string): Promise<StorageClient> {
  const headersFile = join(folder, 'headers');
  await writeFile(headersFile, text);
  return createStorageClient({ ...node, headersFile });
}

async function failureOf(run: Promise<unknown>): Promise<ApiError> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error(`no ApiError: ${String(error)}`);
  return error;
}

test.each([
  [201, 'durable'],
  [200, 'unclear'],
  [202, 'unclear'],
  [302, 'refused'],
  [400, 'refused'],
  [401, 'refused'],
  [403, 'refused'],
  [404, 'refused'],
  [406, 'impossible'],
  [408, 'unclear'],
  [409, 'conflict'],
  [422, 'refused'],
  [429, 'unclear'],
  [500, 'unclear'],
  [503, 'unclear'],
])('a creation that is answered with %i is %s', async (status, kind) => {
  node.script = () => ({ status });
  expect((await create()).kind).toBe(kind);
  expect(node.violations).toEqual([]);
});

test('a creation whose answer is lost is unclear', async () => {
  node.script = () => 'lost';
  expect(await create()).toEqual({
    kind: 'unclear',
    why: expect.stringMatching(/^POST \/v1\/tenant\/\w+\/timeline\/ of the storage node: connection closed before/),
  });
});

test('a repeated creation has the same bytes', async () => {
  await create();
  await create();
  const [first, second] = node.requests;
  expect(second?.body).toBe(first?.body);
  expect(first?.body).toContain('"ancestor_start_lsn":"0/169AD58"');
});

test('a read ends when its signal aborts', async () => {
  const stop = new AbortController();
  node.script = () => {
    stop.abort();
    return new Promise(() => {});
  };
  client = createStorageClient(node, { signal: stop.signal });
  expect((await failureOf(client.timelines())).message).toMatch(/interrupted$/);
});

test('an unknown tenant is named as the reason of a 404', async () => {
  client = createStorageClient({ url: node.url, tenant: 'f'.repeat(32) });
  expect((await failureOf(client.timelines())).message).toMatch(/status 404: it has no such tenant$/);
});

test('a base address may have a path', async () => {
  client = createStorageClient({ ...node, url: `${node.url}/behind/a/gateway/` });
  await failureOf(client.tenants());
  expect(node.requests[0]?.path).toBe('/behind/a/gateway/v1/tenant');
});

describe('answers that are none', () => {
  test.each([
    ['an object', { timelines: [] }],
    ['null', null],
    ['an entry without an id', [{ ancestor_timeline_id: null }]],
    ['an id that is a number', [{ timeline_id: 7 }]],
  ])('%s instead of the list is unreadable', async (_, document) => {
    node.script = () => ({ status: 200, document });
    expect(await failureOf(client.timelines())).toMatchObject({ failure: 'invalid_answer', status: 200 });
  });

  test('a redirect is not followed', async () => {
    const other = createServer((_, response) => response.end('[]'));
    let asked = 0;
    other.on('request', () => (asked += 1));
    const port = await listen(other);
    const gate = createServer((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
    );
    client = createStorageClient({ ...node, url: `http://127.0.0.1:${await listen(gate)}` });
    expect((await failureOf(client.timelines())).message).toMatch(/status 307: it redirects; configure the address/);
    expect(asked).toBe(0);
    await Promise.all([close(other), close(gate)]);
  });

  test('an answer without an end is cut short at the limit', async () => {
    const endless = createServer((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(1024 * 1024))) continue;
      };
      response.on('drain', more);
      more();
    });
    client = createStorageClient({ ...node, url: `http://127.0.0.1:${await listen(endless)}` }, { timeoutMs: 60_000 });
    expect((await failureOf(client.timelines())).message).toMatch(/answer too large \(more than 16777216 bytes\)$/);
    await close(endless);
  });

  test('silence ends at the deadline', async () => {
    node.script = () => new Promise(() => {});
    client = createStorageClient(node, { timeoutMs: 100 });
    const failure = await failureOf(client.timelines());
    expect(failure.message).toMatch(/no whole answer within 100 ms$/);
    expect(failure.failure).toBe('timeout');
  });

  test('a port without a server is refused', async () => {
    await node.stop();
    const error = await failureOf(client.timelines());
    expect(error.failure).toBe('unreachable');
    expect(error.message).toMatch(/connection refused \(ECONNREFUSED\)$/);
    node = await startFakeStorageNode();
  });
});

describe('headers from a file', () => {
  test('every request has them', async () => {
    client = await withHeaders(`# for the gateway\n\nAuthorization: Bearer ${SECRET}\r\nX-Team:  db \n`);
    await client.timelines();
    await create();
    for (const { headers } of node.requests) {
      expect(headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-team': 'db' });
    }
  });

  test.each([
    [SECRET, /headers line 1 is no header: write Name: value$/],
    [`ok: 1\nbad name: ${SECRET}`, /headers line 2 is no header/],
    [`x: ${SECRET}\u0001`, /headers line 1 is no header/],
    [`Content-Length: 1`, /headers line 1: Pointsman sets this header itself$/],
  ])('%j is refused without showing it', async (text, message) => {
    client = await withHeaders(text);
    const error = await failureOf(client.timelines());
    expect(error.failure).toBe('local');
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain(SECRET);
    await failureOf(create());
    expect(node.requests).toEqual([]);
  });

  test('a file that goes away during a request leaves its answer as it is, without the header', async () => {
    const headersFile = join(folder, 'short-lived');
    await writeFile(headersFile, `Authorization: Bearer ${SECRET}`);
    client = createStorageClient({ ...node, headersFile });
    node.script = async () => {
      await rm(headersFile);
      return { status: 503, document: { msg: `not with ${SECRET}` } };
    };
    expect(await create()).toEqual({ kind: 'unclear', why: expect.not.stringContaining(SECRET) });
  });

  test('a file that does not exist is named', async () => {
    client = createStorageClient({ ...node, headersFile: join(folder, 'none') });
    expect((await failureOf(client.timelines())).message).toMatch(/none cannot be read: there is no such file$/);
  });
});
