// Reads certificate files again from time to time, so that a rotated CA or client certificate works without a restart.
// During a read, and while a file cannot be used, the last good content of all is used: a slow disk delays only the
// first probe, and a file that is half written ends none.
import { faultError } from '../http/exchange-error.ts';
import type { TlsMaterial } from '../http/open-socket.ts';
import type { ApiTls } from '../model/cluster-config.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type { ReadPem } from '../model/pem.ts';
import { present } from './fields.ts';

/** The current TLS settings. Rejects when the files were never usable. */
export type TlsSource = () => Promise<TlsMaterial>;

export interface TlsFilesOptions {
  readonly readPem: ReadPem;
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  /** Called once for each fault of files that were usable: `cluster.api.tls.key /a.key is not the key of cert`. */
  readonly onRefused?: ((why: string) => void) | undefined;
  /** Milliseconds. */
  readonly rereadAfterMs?: number;
}

const REREAD_AFTER_MS = 5_000;

export function tlsFromFiles(files: ApiTls, options: TlsFilesOptions): TlsSource {
  const { onRefused, rereadAfterMs = REREAD_AFTER_MS } = options;
  let current: TlsMaterial | undefined;
  let problem = '';
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;

  async function reread(): Promise<void> {
    readAt = performance.now();
    const read = await readAll(files, options);
    if (!('why' in read)) {
      [current, problem] = [read, ''];
      return;
    }
    if (current !== undefined && read.why !== problem) onRefused?.(read.why);
    problem = read.why;
  }

  return async () => {
    if (current === undefined || performance.now() - readAt >= rereadAfterMs) {
      reading ??= reread().finally(() => (reading = undefined));
    }
    if (current === undefined) await reading;
    if (current === undefined) throw faultError('local', problem);
    return current;
  };
}

async function readAll(
  files: ApiTls,
  { readPem, readKeyPair }: TlsFilesOptions,
): Promise<TlsMaterial | { readonly why: string }> {
  const { ca, cert, key, insecure = false } = files;
  const pairFiles = cert === undefined || key === undefined ? undefined : { cert, key };
  const [authorities, pair] = await Promise.all([
    ca === undefined ? undefined : readPem(ca, 'certificates'),
    pairFiles && readKeyPair(pairFiles),
  ]);
  if (authorities?.kind === 'unusable') return { why: `cluster.api.tls.ca ${ca} ${authorities.why}` };
  if (pair?.kind === 'unusable') return { why: `cluster.api.tls.${pair.file} ${pairFiles?.[pair.file]} ${pair.why}` };
  return present({ insecure, ca: authorities?.text, cert: pair?.cert, key: pair?.key });
}
