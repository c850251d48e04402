// Keys and headers of the APIs, from files that are read at each use: a rotated key counts at once. Errors name the
// file and the line, never their content.
import { readFile } from 'node:fs/promises';
import { ApiError } from './request.ts';
import { fileFault } from '../model/errno.ts';

/** Rejects with an ApiError. */
export function readApiKey(file: string): Promise<string> {
  return readHeaderValue(file, /^[\x21-\x7e]+$/);
}

/** The value of a header, alone on one line, such as `Bearer KEY`. Rejects with an ApiError. */
export async function readHeaderValue(file: string, pattern = /^[\x20-\x7e]+$/): Promise<string> {
  const value = (await readSecret(file)).trim();
  // An invalid header value could appear in an error of a library.
  if (!pattern.test(value)) throw unusable(file, 'holds no key: write the key alone, on one line');
  return value;
}

/** A line `Name: value` for each header. Empty lines and lines that begin with `#` are skipped. */
export async function readHeaders(file: string): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {};
  for (const [index, line] of (await readSecret(file)).split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]+)$/.exec(line) ?? [];
    if (name === '') throw unusable(file, `line ${index + 1} is no header: write Name: value`);
    if (OURS.has(name.toLowerCase())) throw unusable(file, `line ${index + 1}: Pointsman sets this header itself`);
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

const OURS: ReadonlySet<string> = new Set(
  'connection content-length content-type expect keep-alive te trailer transfer-encoding upgrade'.split(' '),
);

async function readSecret(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(file, `cannot be read: ${fileFault(error)}`);
  }
}

function unusable(file: string, why: string): ApiError {
  return new ApiError('local', `${file} ${why}`);
}
