// The status page as the admin server sends it: to browsers alone, with its headers, and from memory.
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { buildPage } from '../../support/page/build-page.ts';
import type { BuiltPage } from '../../support/page/build-page.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const MOST_TRANSFERRED_BYTES = 100_000;

let built: BuiltPage;
beforeAll(async () => {
  built = await buildPage();
});
afterAll(() => built[Symbol.asyncDispose]());

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

interface Got {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Get = (path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<Got>;

/** Sends the headers as they are, and leaves the body as it comes. */
async function serve(pageDirectory: string): Promise<Get> {
  const admin = createAdmin(adminOptions({ pageDirectory }));
  opened.push(() => admin.close());
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  return async (path, headers = {}, method = 'GET') => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ ...listening.address, path, method, headers }, resolve)
        .on('error', reject)
        .end();
    });
    return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  };
}

function filesIn(html: Buffer): readonly string[] {
  return [...html.toString().matchAll(/"(page\/[^"]+)"/g)].map(([, file = '']) => `/${file}`);
}

describe('the page', () => {
  test('a browser gets the document, its script and its styles, compressed and of known types', async () => {
    const get = await serve(built.directory);
    const page = await get('/', BROWSER);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const files = filesIn(page.body);
    expect(files).toHaveLength(2);
    let transferred = 0;
    for (const path of ['/', ...files]) {
      const plain = await get(path, BROWSER);
      const gzip = await get(path, { ...BROWSER, 'accept-encoding': 'gzip, deflate, br' });
      expect([plain.headers['content-encoding'], gzip.headers['content-encoding']]).toEqual([undefined, 'gzip']);
      expect(gunzipSync(gzip.body)).toEqual(plain.body);
      expect(gzip.headers['content-length']).toBe(String(gzip.body.length));
      transferred += gzip.body.length;
    }
    console.info(`the page: ${transferred} bytes in ${files.length + 1} files`);
    expect(transferred).toBeLessThan(MOST_TRANSFERRED_BYTES);
    const types = await Promise.all(files.map(async (path) => (await get(path)).headers['content-type']));
    expect(new Set(types)).toEqual(new Set(['text/css; charset=utf-8', 'text/javascript; charset=utf-8']));
  });

  test('it names no other host, and has no inline script or style', async () => {
    const get = await serve(built.directory);
    const page = (await get('/', BROWSER)).body.toString();
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
    expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|"\/\//);
  });

  test('every file has the headers that keep foreign content out', async () => {
    const get = await serve(built.directory);
    const page = await get('/', BROWSER);
    for (const path of ['/', ...filesIn(page.body)]) {
      expect((await get(path, BROWSER)).headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
  });

  test('a browser keeps the files for good, and asks again for the document', async () => {
    const get = await serve(built.directory);
    const page = await get('/', BROWSER);
    expect([page.headers['cache-control'], page.headers.vary]).toEqual(['no-cache', 'accept, accept-encoding']);
    for (const path of ['/', ...filesIn(page.body)]) {
      const { headers } = await get(path, BROWSER);
      if (path !== '/') expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      const again = await get(path, { ...BROWSER, 'if-none-match': headers.etag ?? '' });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
      expect((await get(path, { ...BROWSER, 'if-none-match': 'W/"older"' })).status).toBe(200);
    }
  });

  test('HEAD is GET without the body', async () => {
    const get = await serve(built.directory);
    const [page, head] = [await get('/', BROWSER), await get('/', BROWSER, 'HEAD')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(page.headers['content-length']);
  });
});

describe('other callers', () => {
  test('curl gets the list of paths at /', async () => {
    const get = await serve(built.directory);
    const { status, body } = await get('/', { accept: '*/*' });
    expect([status, body.toString()]).toEqual([404, expect.stringContaining('not found: the paths are /livez, ')]);
  });

  test.each(['/page/', '/page/nothing.js', '/page/..%2fmain.js', '/page/index.html.gz', '/page/a/b'])(
    '%s: no such file',
    async (path) => {
      const get = await serve(built.directory);
      expect((await get(path, BROWSER)).status).toBe(404);
    },
  );

  test.each(['POST', 'PUT', 'DELETE'])('%s is refused', async (method) => {
    const get = await serve(built.directory);
    const { status, headers } = await get('/', BROWSER, method);
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  test('a public host name is refused: a foreign page could own it', async () => {
    const get = await serve(built.directory);
    for (const path of ['/', ...filesIn((await get('/', BROWSER)).body)]) {
      const { status, body } = await get(path, { ...BROWSER, host: 'pointsman.example.org' });
      expect([status, body.toString()]).toEqual([403, expect.stringContaining('admin.allowed_hosts')]);
    }
  });
});

test('a page that is not built: the command that builds it, and then the page', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-page-'));
  opened.push(() => rm(directory, { recursive: true, force: true }));
  const place = join(directory, 'page');
  const get = await serve(place);
  const missing = await get('/', BROWSER);
  expect([missing.status, missing.body.toString()]).toEqual([503, expect.stringContaining('npm run build:page')]);
  await using later = await buildPage(place);
  expect(later.directory).toBe(place);
  expect((await get('/', BROWSER)).status).toBe(200);
});
