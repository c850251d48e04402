// Files that others write: certificates, keys, verifiers, headers, the table of connections of the kernel, and what
// `init` reads.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fromConninfo } from '../../../src/cli/init/from-conninfo.ts';
import { fromHaproxy } from '../../../src/cli/init/from-haproxy.ts';
import { fromPatroni } from '../../../src/cli/init/from-patroni.ts';
import { writeDraft } from '../../../src/cli/init/write-draft.ts';
import { readKeyPairNow } from '../../../src/config/files/key-pair.ts';
import { readPemNow } from '../../../src/config/files/pem.ts';
import { ApiError } from '../../../src/http/request.ts';
import { readApiKey, readHeaders } from '../../../src/http/secret-files.ts';
import { addSilent } from '../../../src/proxy/ending/tcp-table.ts';
import type { Silence } from '../../../src/proxy/options.ts';
import { FileSource } from '../../../src/verifiers/file-source.ts';
import { SERVER, tlsText } from '../../support/values/tls-files.ts';
import { Feed, textOf, type FuzzTarget } from '../target.ts';

const directory = mkdtempSync(join(tmpdir(), 'pointsman-fuzz-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, 'file');

/** An accepted file can be used. */
function checkPem(bytes: Buffer): void {
  writeFileSync(file, bytes);
  const authorities = readPemNow(file, 'certificates');
  if (authorities.kind === 'pem') createSecureContext({ ca: authorities.text });
  const revocations = readPemNow(file, 'revocations');
  if (revocations.kind === 'pem') createSecureContext({ crl: revocations.text });
}

function checkPair(bytes: Buffer): void {
  writeFileSync(file, bytes);
  const asKey = readKeyPairNow({ cert: SERVER.cert, key: file });
  if (asKey.kind === 'pair') createSecureContext(asKey);
  const asCertificate = readKeyPairNow({ cert: file, key: SERVER.key });
  if (asCertificate.kind === 'pair') createSecureContext(asCertificate);
}

function expected(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
  return undefined;
}

async function checkSecrets(bytes: Buffer): Promise<void> {
  writeFileSync(file, bytes);
  const headers = await readHeaders(file).catch(expected);
  for (const [name, value] of Object.entries(headers ?? {})) new Headers().set(name, value);
  const key = await readApiKey(file).catch(expected);
  if (key !== undefined) new Headers().set('authorization', `Bearer ${key}`);
  const source = new FileSource(file);
  const answer = await source.read('app', new AbortController().signal);
  if (answer.kind === 'found') assert(bytes.includes(Buffer.from(answer.verifier)));
  source.close();
}

function checkTable(bytes: Buffer): void {
  const text = bytes.toString('latin1');
  const silent = new Map<string, Silence>();
  addSilent(text, silent);
  assert(silent.size <= text.length / 20);
  for (const { bytes: waiting, attempts } of silent.values()) assert(waiting > 0 && attempts > 0);
}

function checkInit(bytes: Buffer): void {
  const text = textOf(bytes);
  const options = { text, name: 'file', apiPort: 8008 };
  for (const result of [fromHaproxy({ ...options, env: {} }), fromPatroni(options), fromConninfo(text, 8008)]) {
    const problems = result.kind === 'unusable' ? result.problems : writeDraft(result.draft.settings, '').problems;
    if (result.kind === 'unusable') assert(problems.length > 0);
    for (const problem of problems) assert(problem.length > 10);
  }
}

async function check(input: Uint8Array): Promise<void> {
  const feed = new Feed(input);
  const kind = feed.byte() % 5;
  const rest = feed.rest();
  if (kind === 0) checkPem(rest);
  else if (kind === 1) checkPair(rest);
  else if (kind === 2) await checkSecrets(rest);
  else if (kind === 3) checkTable(rest);
  // Its user waits for no other client: the library for YAML may take its time with thousands of faults.
  else checkInit(rest.subarray(0, 1_000));
}

const of = (kind: number, text: string): Buffer => Buffer.concat([Buffer.of(kind), Buffer.from(text)]);
const ROW = '   0: 0100007F:1538 0200007F:C350 01 00000100:00000000 01:00000014 00000003        0        0 12345 2\n';

export const files: FuzzTarget = {
  name: 'files',
  covers: ['config/files/', 'http/secret-files', 'verifiers/file-source', 'proxy/ending/tcp-table', 'cli/init/'],
  seeds: [
    of(0, tlsText('ca.pem')),
    of(1, tlsText('server.key')),
    of(1, tlsText('server.pem')),
    of(2, '; comment\n"app" "SCRAM-SHA-256$4096:a$b:c"\n"a""b" "md5x" ""\n'),
    of(2, '# comment\nAuthorization: Bearer x\nX-Key:\tvalue \n'),
    of(3, `  sl  local_address rem_address\n${ROW}`),
    of(
      3,
      ROW.replaceAll('0100007F', '0'.repeat(24) + '01000000').replaceAll(
        '0200007F',
        '0000000000000000FFFF00000200007F',
      ),
    ),
    of(4, 'defaults\nlisten primary\n  bind *:5000\n  option httpchk GET /primary\n  server a 10.0.0.1:5432 check\n'),
    of(4, 'scope: demo\nname: pg-1\nrestapi:\n  listen: 0.0.0.0:8008\n  connect_address: 10.0.0.1:8008\n'),
    of(4, 'postgresql://app:pw@10.0.0.1:5432,10.0.0.2/shop?target_session_attrs=read-write'),
    of(4, "host=10.0.0.1 port=5432 user='a b' password='it\\'s'"),
  ],
  words: [
    '-----BEGIN CERTIFICATE-----\n',
    '-----END CERTIFICATE-----\n',
    '-----BEGIN X509 CRL-----\n',
    '-----BEGIN PRIVATE KEY-----\n',
    'TRUSTED ',
    'X509 ',
    '"',
    '""',
    ';',
    '\n',
    '\r\n',
    ': ',
    'FFFF',
    '00000000',
    'server ',
    'bind ',
    'listen ',
    'backend ',
    'check port ',
    'option httpchk ',
    'http-check send uri ',
    'scope: ',
    'restapi:\n',
    'host=',
    'port=',
    '%',
    '@',
    ',',
    '[::1]',
    "'",
    '\\',
    'server-template a 1-3 ',
  ],
  costs: 4,
  check,
};
