// Rules for logins that bind: a source of verifiers, and TLS that ends at Pointsman.
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { verifierRules } from './verifier-rules.ts';

const AT: Path = ['logins'];
const VERIFIERS: Path = [...AT, 'verifiers'];
const MODE: Path = ['client', 'tls', 'mode'];
const FAILS = 'logins that bind fail';

export function loginsRules({ logins, moves, client, backend, branches }: ParsedFile): readonly Fault[] {
  const { mode } = client.tls;
  if (logins === undefined) {
    if (mode === 'passthrough') return [];
    const secured: readonly Path[] = [
      ...(backend.tls.mode === 'off' ? [] : [['backend', 'tls', 'mode']]),
      ...(branches === undefined || branches.backends.tls === 'off' ? [] : [['branches', 'backends', 'tls']]),
    ];
    const text =
      'TLS is on both sides of Pointsman: libpq and pgjdbc cannot log in with their usual settings, unless both ' +
      'sides show one certificate. Add logins, or connect with channel_binding=disable';
    return secured.map((path) => warning(text, path, MODE));
  }
  const faults: Fault[] = [];
  if (logins.verifiers !== undefined) faults.push(...verifierRules(logins.verifiers, VERIFIERS, FAILS));
  else if (moves?.verifiers === undefined) {
    faults.push(error('has no source of verifiers: give logins.verifiers, or moves.verifiers', VERIFIERS, AT));
  }
  if (mode === 'passthrough') {
    faults.push(warning('has no effect: client.tls.mode is passthrough, so clients bind to the members', AT, MODE));
  }
  return faults;
}
