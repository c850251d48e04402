// The certificates of one cluster, from an authority of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeLabAuthority } from '../../../src/sandbox/tls/lab-authority.ts';
import type { ServerTls } from './settings.ts';

interface PairPaths {
  readonly cert: string;
  readonly key: string;
}

export type SiteTls = {
  readonly trust: ServerTls;
  /** One for all members. */
  readonly server: PairPaths;
  readonly pointsman: PairPaths;
};

/** `give`: to the account of the members. */
export function makeSiteTls(siteDirectory: string, give: (path: string) => void): SiteTls {
  const directory = join(siteDirectory, 'tls');
  mkdirSync(directory, { mode: 0o700 });
  give(directory);
  const authority = makeLabAuthority();
  const keep = (name: string, content: string): string => {
    const file = join(directory, name);
    writeFileSync(file, content, { mode: 0o600 });
    give(file);
    return file;
  };
  const keepPair = (name: string): PairPaths => {
    const { cert, key } = authority.issue(name);
    return { cert: keep(`${name}.crt`, cert), key: keep(`${name}.key`, key) };
  };
  return {
    trust: trustIn(keep('ca.crt', authority.cert), authority.cert),
    server: keepPair('server'),
    pointsman: keepPair('pointsman'),
  };
}

/** Every certificate of such an authority is for `localhost`, too, whatever the address of its server is. */
export function trustIn(caFile: string, ca: string): ServerTls {
  return { ca, caFile, servername: 'localhost' };
}
