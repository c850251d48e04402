// User name and password for the management API (HTTP basic authentication, `restapi.authentication` in patroni.yml).
// The file is read at each use, so that a rotated password counts at once.
import { readFile } from 'node:fs/promises';
import type { ApiAuth } from '../model/cluster-config.ts';
import { faultError } from '../http/exchange-error.ts';
import { fileFault } from '../model/errno.ts';

/** The value of the header Authorization. Rejects with an ExchangeError that names the file, without its content. */
export type CredentialSource = () => Promise<string>;

export function credentialsFrom(auth: ApiAuth): CredentialSource {
  return async () => {
    const password = auth.password ?? (await readPassword(auth.passwordFile));
    return `Basic ${Buffer.from(`${auth.username}:${password}`).toString('base64')}`;
  };
}

/** The forms in which an answer can repeat a header that CredentialSource gave; the longest ones first. */
export function secretsIn(authorization: string): readonly string[] {
  const encoded = authorization.replace(/^Basic /, '');
  const pair = Buffer.from(encoded, 'base64').toString();
  const password = pair.slice(pair.indexOf(':') + 1);
  const forms = [encoded, encodeURIComponent(password), JSON.stringify(password).slice(1, -1), password];
  return forms.filter((form) => form !== '').toSorted((a, b) => b.length - a.length);
}

/** The line end that an editor leaves does not count. */
async function readPassword(file: string | undefined): Promise<string> {
  if (file === undefined) throw faultError('local', 'cluster.api.auth has no password');
  const where = `cluster.api.auth.password_file ${file}`;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw faultError('local', `${where} cannot be read: ${fileFault(error)}`);
  });
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw faultError('local', `${where} is empty`);
  return password;
}
