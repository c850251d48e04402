// How a command reaches a running Pointsman: its admin address, its token, and one HTTP request.
import type * as Http from 'node:http';
import { createRequire } from 'node:module';
import { parseAdminAddress } from '../config/schema/address.ts';
import { readAdminToken } from '../config/files/admin-token.ts';
import type { AdminConfig } from '../config/config.ts';
import { loadAdmin } from '../config/load-admin.ts';
import { formatProblems } from '../config/fault.ts';
import { addressText } from '../model/member.ts';
import type { Address } from '../model/member.ts';
import { count, fileFor, load } from './configuration.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';

// Importing node:http would also load fetch and WebSocket: 12 MB of memory, in `pointsman run` too.
const http: typeof Http = createRequire(import.meta.url)('node:http');

export interface RunningOptions {
  readonly config?: string | undefined;
  /** `host:port`; overrides the configuration. */
  readonly admin?: string | undefined;
}

export interface Running {
  readonly address: Address;
  readonly admin: AdminConfig;
}

/** Satisfies the schema; the command never contacts a seed. */
const NO_SEED = 'http://127.0.0.1:1';
const MOST_BYTES = 16 * 1024 * 1024;
const DEADLINE_MS = 5000;
const ELSEWHERE = 'Use --admin HOST:PORT for another address.';

/**
 * A number is the exit code; the reason is then on stderr. A file with errors is tolerated if it has an admin address.
 */
export function findRunning(options: RunningOptions, io: CliIo): Running | number {
  const given = options.admin === undefined ? undefined : parseAdminAddress(options.admin);
  if (given?.kind === 'invalid') return wrong(io, `--admin: ${given.message}`);
  const found = findAdmin(options, io, given?.value);
  if (found === undefined) return EXIT.usage;
  const { admin, fault } = found;
  const { host, port } = given?.value ?? admin.address;
  if (port === 0) return wrong(io, 'admin.address has port 0, so the port in use is unknown: use --admin HOST:PORT');
  const isEverywhere = given === undefined && (host === '::' || host === '0.0.0.0');
  const address = { host: isEverywhere ? '127.0.0.1' : host, port };
  if (fault !== undefined) io.stderr(`pointsman: ${fault}; continuing with ${addressText(address)}\n`);
  return { address, admin };
}

interface FoundAdmin {
  readonly admin: AdminConfig;
  /** The problems in the rest of the configuration. */
  readonly fault?: string;
}

/** Undefined if no admin address is known; the problems are then on stderr. */
function findAdmin({ config }: RunningOptions, io: CliIo, given: Address | undefined): FoundAdmin | undefined {
  const isFileless = config === undefined && !io.env['POINTSMAN_CONFIG'];
  const env = isFileless ? { POINTSMAN_CLUSTER_SEEDS: NO_SEED, ...io.env } : io.env;
  const options = { config };
  const own = { ...io, env };
  const loaded = load(options, own);
  if (loaded.kind === 'ok') return { admin: loaded.config.admin };
  const file = fileFor(options, own);
  const { readFile } = io;
  const source = { env, ...(readFile === undefined ? {} : { readFile }) };
  const admin =
    loadAdmin({ ...source, file }) ?? (given === undefined ? undefined : loadAdmin({ ...source, file: undefined }));
  if (admin === undefined) {
    io.stderr(`${formatProblems(loaded.problems)}\n${count(loaded.problems)}. ${ELSEWHERE}\n`);
    return undefined;
  }
  const [first] = loaded.problems;
  const what = first === undefined ? '' : ` (${formatProblems([first])})`;
  return { admin, fault: `the configuration has ${count(loaded.problems)}${what}` };
}

function wrong(io: CliIo, why: string): number {
  io.stderr(`pointsman: ${why}\n`);
  return EXIT.usage;
}

/** Undefined if there is none; the reason is then on stderr. */
export async function tokenFor({ admin }: Running, io: CliIo): Promise<string | undefined> {
  const token = await readAdminToken(admin);
  if (token.kind === 'token') return token.value;
  const none =
    'this command needs the admin token: set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE) or POINTSMAN_ADMIN_TOKEN';
  io.stderr(`pointsman: ${token.kind === 'none' ? none : token.why}\n`);
  return undefined;
}

export interface AdminRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token?: string;
}

/** Undefined if there is no answer, or not from a Pointsman; the remedy is then on stderr. */
export async function request(
  { address }: Running,
  sent: AdminRequest,
  io: CliIo,
): Promise<{ readonly status: number; readonly body: unknown } | undefined> {
  const where = addressText(address);
  try {
    const { status, text } = await exchange(address, sent);
    return { status, body: JSON.parse(text) };
  } catch (error) {
    const isNoJson = error instanceof SyntaxError;
    const why = isNoJson
      ? `${where} is not a Pointsman admin endpoint.`
      : `no answer from ${where} (${whyNot(error)}). Is Pointsman running with this admin.address?`;
    io.stderr(`pointsman: ${why} ${ELSEWHERE}\n`);
    return undefined;
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'no such host'],
  ['ECONNRESET', 'connection reset'],
  ['EHOSTUNREACH', 'no route to host'],
]);

function whyNot(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS.get(code) ?? (error instanceof Error ? error.message : String(error));
}

function exchange(
  { host, port }: Address,
  { method, path, token }: AdminRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const sent = http.request({ host, port, method, path, headers, agent: false, signal }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MOST_BYTES) sent.destroy(new Error('the answer is too long'));
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', (error) => reject(signal.aborted ? new Error(`no answer within ${DEADLINE_MS / 1000} s`) : error));
    sent.end(method === 'POST' ? '{}' : undefined);
  });
}
