// Reads certificate files again from time to time, so that a rotated CA or client certificate works without a restart.
// During a read, and after a failed read, the last good content is used: a slow disk delays only the first probe.
import { readFile } from 'node:fs/promises';
import { faultError } from '../http/exchange-error.ts';
import { fileFault } from '../model/errno.ts';
import type { ApiTls } from '../model/cluster-config.ts';
import { present } from './fields.ts';
import type { TlsMaterial } from '../http/open-socket.ts';

/** The current TLS settings. Rejects when the files were never readable. */
export type TlsSource = () => Promise<TlsMaterial>;

const REREAD_AFTER_MS = 10_000;

export function tlsFromFiles(files: ApiTls, rereadAfterMs = REREAD_AFTER_MS): TlsSource {
  let last: Promise<TlsMaterial> | undefined;
  let readAt = -Infinity;
  let isReading = false;

  /** A failed read keeps the last good content. */
  async function reread(): Promise<void> {
    const next = readAll(files);
    try {
      await next;
      last = next;
    } catch {
      // The last good content stays.
    } finally {
      isReading = false;
    }
  }

  return async () => {
    if (last === undefined) {
      readAt = performance.now();
      last = readAll(files);
      last.catch(() => (last = undefined));
    } else if (!isReading && performance.now() - readAt >= rereadAfterMs) {
      readAt = performance.now();
      isReading = true;
      void reread();
    }
    return await last;
  };
}

async function readAll({ ca, cert, key, insecure = false }: ApiTls): Promise<TlsMaterial> {
  const texts = [ca, cert, key].map(async (path) => path && (await readText(path)));
  const [caText, certText, keyText] = await Promise.all(texts);
  return present({ insecure, ca: caText, cert: certText, key: keyText });
}

/** `name`: the file in an error. */
export async function readText(path: string, name = path): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw faultError('local', `${name} cannot be read: ${fileFault(error)}`);
  }
}
