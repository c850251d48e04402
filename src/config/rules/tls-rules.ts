// Rules for TLS towards clients, members, members' management APIs and branches: the keys that belong together, and
// whether the files can be used.
import type { KeyPairFiles } from '../../model/key-pair.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import { readPemNow } from '../files/pem.ts';
import { readKeyPairNow } from '../files/key-pair.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { isLoopback } from './loopback.ts';

const CLIENT: Path = ['client', 'tls'];
const MODE: Path = [...CLIENT, 'mode'];
const API: Path = ['cluster', 'api', 'tls'];
const BACKEND: Path = ['backend', 'tls'];

export function clientTlsRules({ client }: ParsedFile): readonly Fault[] {
  const { mode, cert, key } = client.tls;
  if (mode === 'passthrough') {
    if (cert === undefined && key === undefined) return [];
    const message = 'cert and key are for the modes terminate and require: choose one of these, or leave them out';
    return [error(message, MODE, CLIENT)];
  }
  if (cert === undefined || key === undefined) {
    return [error(`${mode} needs cert and key: the files of a certificate and its private key in PEM`, MODE, CLIENT)];
  }
  return pairFaults(CLIENT, { cert, key }, 'clients that verify refuse it');
}

export function apiTlsRules({ cluster }: ParsedFile): readonly Fault[] {
  const { tls } = cluster.api;
  if (tls === undefined) return [];
  const { ca, cert, key, insecure } = tls;
  const faults: Fault[] = [];
  if ((cert === undefined) !== (key === undefined)) {
    faults.push(error('cert and key belong together: give both or neither', API));
  }
  if (insecure && ca !== undefined) {
    faults.push(error('insecure would ignore ca: give one of the two', [...API, 'insecure'], API));
  } else if (insecure) {
    const message =
      'certificates of members are not verified: anybody who answers at their address can redirect the writes';
    faults.push(warning(message, [...API, 'insecure']));
  }
  if (isUnused(cluster)) {
    const message = 'has no effect: every seed and member is an http URL';
    return [...faults, warning(message, API, ['cluster', 'seeds'], ['cluster', 'members'])];
  }
  faults.push(...unusableAuthorities([...API, 'ca'], ca));
  if (cert === undefined || key === undefined) return faults;
  return [...faults, ...pairFaults(API, { cert, key }, 'APIs that verify clients refuse it')];
}

/** A name that only the cluster gives proves no more than the cluster, unless an authority of the operator signs it. */
export function backendTlsRules({ backend, client, listeners }: ParsedFile): readonly Fault[] {
  const { mode, cert, key, ca_file: ca, crl_file: crl, server_name: name, ...rest } = backend.tls;
  const { negotiation, min_version: oldest } = rest;
  if (mode === 'off') {
    const isSet = [cert, key, ca, crl, name].some((value) => value !== undefined);
    if (!isSet && negotiation === 'request' && oldest === 'TLSv1.2') return [];
    return [
      error('the other keys are for verify-ca and verify-full: choose one of these', [...BACKEND, 'mode'], BACKEND),
    ];
  }
  const faults: Fault[] = [];
  if ((cert === undefined) !== (key === undefined)) {
    faults.push(error('cert and key belong together: give both or neither', BACKEND));
  }
  if (ca === undefined && mode === 'verify-ca') {
    const why = 'every certificate of a public authority would do, whatever its name is: give ca_file';
    faults.push(error(why, BACKEND));
  } else if (ca === undefined && (name === undefined || name.includes('{member}'))) {
    const why =
      'any public authority signs a certificate for the host of a stranger: give ca_file, or a fixed server_name';
    faults.push(error(why, BACKEND));
  }
  faults.push(...unusableAuthorities([...BACKEND, 'ca_file'], ca));
  const revoked = crl === undefined ? undefined : readPemNow(crl, 'revocations');
  if (revoked?.kind === 'unusable') faults.push(error(`${crl} ${revoked.why}`, [...BACKEND, 'crl_file']));
  if (client.tls.mode !== 'require' && listeners.some(({ address }) => !isLoopback(address))) {
    const why =
      'serves clients without TLS too, and to the members their sessions look encrypted (hostssl): use require, or ' +
      'listen on loopback only';
    faults.push(warning(`client.tls.mode ${client.tls.mode} ${why}`, [...BACKEND, 'mode'], MODE));
  }
  if (cert === undefined || key === undefined) return faults;
  const text =
    'a line with cert or clientcert in pg_hba.conf is met by every client of Pointsman: members see ' +
    'this certificate for all of them';
  faults.push(warning(text, [...BACKEND, 'cert']));
  return [...faults, ...pairFaults(BACKEND, { cert, key }, 'members that verify clients refuse it')];
}

function isUnused({ seeds, members, kubernetes }: ParsedFile['cluster']): boolean {
  const urls = [...seeds, ...members.map((member) => member.api)].map((one) => one.url);
  return urls.length > 0 && kubernetes?.scheme !== 'https' && urls.every((url) => /^http(?:\+srv)?:/i.test(url));
}

export function unusableAuthorities(path: Path, file: string | undefined): readonly Fault[] {
  const reading = file === undefined ? undefined : readPemNow(file, 'certificates');
  return reading?.kind === 'unusable' ? [error(`${file} ${reading.why}`, path)] : [];
}

/** `expired`: the consequence. */
function pairFaults(path: Path, files: KeyPairFiles, expired: string): readonly Fault[] {
  const reading = readKeyPairNow(files);
  if (reading.kind === 'unusable') return [error(`${files[reading.file]} ${reading.why}`, [...path, reading.file])];
  if (reading.expiresAt > Date.now()) return [];
  const when = new Date(reading.expiresAt).toISOString();
  return [warning(`${files.cert} expired on ${when}: ${expired}`, [...path, 'cert'])];
}
