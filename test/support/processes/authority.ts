// A certificate authority of a test, made with openssl. Every account can read its files, the keys as well: servers run
// as another one.
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPairPaths } from '../values/tls-files.ts';

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export class Authority {
  /** Its certificate. */
  readonly file: string;
  readonly #directory: string;
  readonly #name: string;

  /** `name` is that of its files in the directory, too. */
  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#name = name;
    this.file = this.#path('crt');
    const subject = ['-subj', `/CN=${name}`, '-days', '2'];
    this.#openssl('req', '-x509', ...NEW_KEY, ...subject, '-keyout', this.#path('key'), '-out', this.file);
  }

  /** `names` as openssl writes them: `DNS:pg-1.test`, `IP:127.0.0.11`. Negative `days`: it has expired. */
  sign(file: string, names: readonly string[], days = 1): KeyPairPaths {
    const pair = { cert: join(this.#directory, `${file}.crt`), key: join(this.#directory, `${file}.key`) };
    const request = join(this.#directory, `${file}.csr`);
    const alternatives = ['-addext', `subjectAltName=${names.join(',')}`];
    this.#openssl('req', ...NEW_KEY, '-subj', `/CN=${file}`, ...alternatives, '-keyout', pair.key, '-out', request);
    const signer = ['-CA', this.file, '-CAkey', this.#path('key'), '-copy_extensions', 'copy'];
    this.#openssl('x509', '-req', '-in', request, ...signer, '-days', String(days), '-out', pair.cert);
    chmodSync(pair.key, 0o644);
    return pair;
  }

  #path(ending: string): string {
    return join(this.#directory, `${this.#name}.${ending}`);
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' });
  }
}
