// A certificate authority in a directory of its own, by openssl: it can revoke, which Node cannot.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KeyPairPaths } from '../values/tls-files.ts';

const run = promisify(execFile);
const CONFIG = `[ca]
default_ca = it
[it]
database = index.txt
certificate = ca.pem
private_key = ca.key
serial = serial
new_certs_dir = .
default_md = sha256
default_days = 30
default_crl_days = 30
policy = any
copy_extensions = copy
unique_subject = no
[authority]
basicConstraints = critical,CA:true
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
`;
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
/** From when, until when, for openssl. */
export const PAST = ['20200101000000Z', '20200201000000Z'] as const;
export const FUTURE = ['20400101000000Z', '20400201000000Z'] as const;

/** For people; undefined when it is there. */
export const missingOpenssl =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl: apt-get install openssl';

interface IssueOptions {
  readonly times?: readonly [string, string];
  readonly more?: readonly string[];
}

export class TestAuthority {
  readonly directory: string;
  #lists = 0;
  #issued = 0;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** `times`: PAST; from now on without it. */
  static async create(name: string, times?: readonly [string, string]): Promise<TestAuthority> {
    const authority = new TestAuthority(await mkdtemp(join(tmpdir(), 'pointsman-test-ca-')));
    const files = { 'ca.cnf': CONFIG, 'index.txt': '', serial: '01\n' };
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(authority.directory, name), text)));
    await authority.#openssl('req', ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', 'ca.key', '-out', 'asked');
    await authority.#sign('ca.pem', times, '-selfsign', '-extensions', 'authority');
    return authority;
  }

  get caFile(): string {
    return join(this.directory, 'ca.pem');
  }

  /** For the name. `times`: PAST or FUTURE; from now on without it. `more`: extensions. */
  async issue(name: string, { times, more = [] }: IssueOptions = {}): Promise<KeyPairPaths> {
    this.#issued += 1;
    const [cert, key] = [`${this.#issued}.pem`, `${this.#issued}.key`];
    const own = [`subjectAltName=DNS:${name}`, ...more].flatMap((one) => ['-addext', one]);
    await this.#openssl('req', ...NEW_KEY, '-subj', `/CN=${name}`, ...own, '-keyout', key, '-out', 'asked');
    await this.#sign(cert, times);
    return { cert: join(this.directory, cert), key: join(this.directory, key) };
  }

  async revoke({ cert }: KeyPairPaths): Promise<void> {
    await this.#openssl('ca', '-revoke', cert);
  }

  /** The file of a new list of what is revoked now. */
  async list(times?: readonly [string, string]): Promise<string> {
    this.#lists += 1;
    const file = `${this.#lists}.crl`;
    const period = times === undefined ? [] : ['-crl_lastupdate', times[0], '-crl_nextupdate', times[1]];
    await this.#openssl('ca', '-gencrl', ...period, '-out', file);
    return join(this.directory, file);
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  async #sign(file: string, times?: readonly [string, string], ...more: readonly string[]): Promise<void> {
    const period = times === undefined ? [] : ['-startdate', times[0], '-enddate', times[1]];
    await this.#openssl('ca', '-batch', '-notext', ...period, ...more, '-in', 'asked', '-out', file);
  }

  async #openssl(command: string, ...args: readonly string[]): Promise<void> {
    await run('openssl', [command, '-config', 'ca.cnf', ...args], { cwd: this.directory });
  }
}
