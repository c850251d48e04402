// The certificates of one sandbox, as files: of its servers, and of the Pointsman in front of them.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeLabAuthority, type LabKeyPair } from '../tls/lab-authority.ts';
import { give, type RunAs } from './run-as.ts';
import type { AuthorityFile, PairFiles } from './settings-files.ts';
import { writeOwned } from './template.ts';

export interface LabCertificates {
  readonly authority: AuthorityFile;
  /** One for all servers. PostgreSQL wants the key to be its user's. */
  readonly server: PairFiles;
  readonly pointsman: PairFiles;
}

/** In `tls` below the directory of the servers. */
export async function makeCertificates(runAs: RunAs): Promise<LabCertificates> {
  const directory = join(runAs.directory, 'tls');
  await mkdir(directory, { mode: 0o700 });
  await give(directory, runAs.user);
  const { cert, issue } = makeLabAuthority();
  const keep = async (name: string, content: string): Promise<string> => {
    const file = join(directory, name);
    await writeOwned(file, content, runAs);
    return file;
  };
  const keepPair = async (name: string, pair: LabKeyPair): Promise<PairFiles> => ({
    cert: await keep(`${name}.crt`, pair.cert),
    key: await keep(`${name}.key`, pair.key),
  });
  return {
    authority: { file: await keep('ca.crt', cert), cert },
    server: await keepPair('server', issue('PostgreSQL')),
    pointsman: await keepPair('pointsman', issue('Pointsman')),
  };
}
