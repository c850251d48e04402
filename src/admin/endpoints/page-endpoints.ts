// The status page: a document at `/` for browsers, and the files that it names. They are no part of the API: the lists
// of its paths leave them out, and other programs get at `/` the same answer as at any unknown path.
import type { IncomingHttpHeaders } from 'node:http';
import { failure, text, type Answer } from '../answer.ts';
import { anyQuery, get, type Endpoint } from '../endpoint.ts';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

export interface PageOptions {
  /** Where the built page is: dist/page of the package. */
  readonly pageDirectory: string;
}

const HEADERS: Answer['headers'] = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};
/** Its name has the hash of its content. */
const KEPT = 'public, max-age=31536000, immutable';
const NOT_BUILT =
  'The status page is not built. Run `npm run build:page` in the checkout of Pointsman, then load this page again.\n' +
  'The same facts are at /status.\n';

export function isForPage(path: string, { accept = '' }: IncomingHttpHeaders): boolean {
  return path.startsWith('/page/') || (path === '/' && accept.includes('text/html'));
}

export function pageEndpoints({ pageDirectory }: PageOptions): readonly Endpoint[] {
  const files = createPageFiles(pageDirectory);
  return [
    get({
      path: '/',
      query: anyQuery,
      async answer({ headers }) {
        const page = await files();
        return page === undefined ? text(503, NOT_BUILT) : fileAnswer(page.document, headers, 'no-cache', 'accept, ');
      },
    }),
    get({
      path: '/page/FILE',
      query: anyQuery,
      async answer({ parameters, headers }) {
        const file = (await files())?.others.get(parameters.file);
        return file === undefined
          ? failure(404, 'no such file of the status page: load / again')
          : fileAnswer(file, headers, KEPT);
      },
    }),
  ];
}

/** `vary`: request headers beside accept-encoding that the answer depends on. */
function fileAnswer(file: PageFile, headers: IncomingHttpHeaders, cache: string, vary = ''): Answer {
  const { type, etag } = file;
  const common = { ...HEADERS, etag, 'cache-control': cache, vary: `${vary}accept-encoding` };
  if (headers['if-none-match']?.includes(etag) === true) return { status: 304, type, body: '', headers: common };
  const isGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers['accept-encoding'] ?? '');
  return isGzip
    ? { status: 200, type, body: file.gzip, headers: { ...common, 'content-encoding': 'gzip' } }
    : { status: 200, type, body: file.plain, headers: common };
}

interface PageFile {
  readonly type: string;
  /** Weak, because the plain file and its gzip copy share it. */
  readonly etag: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
}

interface PageFiles {
  /** The HTML document. */
  readonly document: PageFile;
  /** By file name. */
  readonly others: ReadonlyMap<string, PageFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Undefined: the page is not built. The next call looks again. */
function createPageFiles(directory: string): () => Promise<PageFiles | undefined> {
  let files: PageFiles | undefined;
  return async () => (files ??= await read(directory));
}

async function read(directory: string): Promise<PageFiles | undefined> {
  const names = await readdir(directory).catch(() => []);
  const known = names.filter((name) => TYPES[extname(name)] !== undefined);
  const files = new Map(await Promise.all(known.map(async (name) => [name, await readOne(directory, name)] as const)));
  const [name, document] = [...files].find(([name]) => name.endsWith('.html')) ?? [];
  if (name === undefined || document === undefined) return undefined;
  files.delete(name);
  return { document, others: files };
}

async function readOne(directory: string, name: string): Promise<PageFile> {
  const [plain, gzip] = await Promise.all([name, `${name}.gz`].map((file) => readFile(join(directory, file))));
  if (plain === undefined || gzip === undefined) throw new Error(`${name} was not read`);
  return { type: TYPES[extname(name)] ?? '', etag: `W/"${name}"`, plain, gzip };
}
