// Rules for TLS towards the members' management API: the keys that belong together, and whether the files can be used.
import type { KeyPairFiles, KeyPairReading } from '../../model/key-pair.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

const TLS: Path = ['cluster', 'api', 'tls'];

export interface FileReaders {
  readonly readKeyPair: (files: KeyPairFiles) => KeyPairReading;
  /** The reason why a file of authorities cannot be used; undefined when it can. */
  readonly unusableAuthority: (file: string) => string | undefined;
}

export function apiTlsRules({ cluster }: ParsedFile, readers: FileReaders): readonly Fault[] {
  const { tls } = cluster.api;
  if (tls === undefined) return [];
  const faults: Fault[] = [];
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    faults.push(error('cert and key belong together: give both or neither', TLS));
  }
  if (tls.insecure && tls.ca !== undefined) {
    faults.push(error('insecure would ignore ca: give one of the two', [...TLS, 'insecure'], TLS));
  } else if (tls.insecure) {
    faults.push(
      warning(
        'certificates of members are not verified: anybody who answers at their address can redirect the writes',
        [...TLS, 'insecure'],
      ),
    );
  }
  if (isUnused(cluster)) {
    const message = 'has no effect: every seed and member is an http URL';
    return [...faults, warning(message, TLS, ['cluster', 'seeds'], ['cluster', 'members'])];
  }
  return [...faults, ...fileFaults(tls, readers)];
}

function isUnused({ seeds, members, kubernetes }: ParsedFile['cluster']): boolean {
  const urls = [...seeds, ...members.map((member) => member.api)].map((one) => one.url);
  return urls.length > 0 && kubernetes?.scheme !== 'https' && urls.every((url) => /^http(?:\+srv)?:/i.test(url));
}

type ParsedApiTls = NonNullable<ParsedFile['cluster']['api']['tls']>;

function fileFaults({ ca, cert, key }: ParsedApiTls, readers: FileReaders): readonly Fault[] {
  const faults: Fault[] = [];
  const why = ca === undefined ? undefined : readers.unusableAuthority(ca);
  if (why !== undefined) faults.push(error(`${ca} ${why}`, [...TLS, 'ca']));
  const pair = cert === undefined || key === undefined ? undefined : readers.readKeyPair({ cert, key });
  if (pair?.kind === 'unusable') {
    faults.push(error(`${pair.file === 'cert' ? cert : key} ${pair.why}`, [...TLS, pair.file]));
  }
  return faults;
}
