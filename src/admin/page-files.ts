// The files of the built page, in memory from the first request on. A package that is replaced under a running process
// changes nothing of its page.
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  /** Weak, because the plain file and its gzip copy share it. */
  readonly etag: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
}

export interface PageFiles {
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
export function createPageFiles(directory: string): () => Promise<PageFiles | undefined> {
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
