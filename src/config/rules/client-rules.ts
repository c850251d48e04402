// Rules for TLS towards clients: the keys that each mode needs, and whether the files can be used.
import type { KeyPairFiles, KeyPairReading } from '../../model/key-pair.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

const TLS: Path = ['client', 'tls'];
const MODE: Path = [...TLS, 'mode'];

/** `now`: milliseconds since 1970. */
export function clientRules(
  { client }: ParsedFile,
  readKeyPair: (files: KeyPairFiles) => KeyPairReading,
  now: number,
): readonly Fault[] {
  const { mode, cert, key } = client.tls;
  if (mode === 'passthrough') {
    if (cert === undefined && key === undefined) return [];
    const message = 'cert and key are for the modes terminate and require: choose one of these, or leave them out';
    return [error(message, MODE, TLS)];
  }
  if (cert === undefined || key === undefined) {
    return [error(`${mode} needs cert and key: the files of a certificate and its private key in PEM`, MODE, TLS)];
  }
  const reading = readKeyPair({ cert, key });
  if (reading.kind === 'unusable') {
    const { file, why } = reading;
    return [error(`${file === 'cert' ? cert : key} ${why}`, [...TLS, file])];
  }
  if (reading.expiresAt > now) return [];
  return [
    warning(`${cert} expired on ${new Date(reading.expiresAt).toISOString()}: clients that verify refuse it`, [
      ...TLS,
      'cert',
    ]),
  ];
}
