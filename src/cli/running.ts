// Where a command finds the running Pointsman: its admin address and its token.
import { parseAdminAddress } from '../config/schema/address.ts';
import { readAdminToken } from '../config/files/admin-token.ts';
import type { AdminConfig } from '../config/config.ts';
import { loadAdmin } from '../config/load-admin.ts';
import { countText } from '../core/describe.ts';
import { formatProblems } from '../config/fault.ts';
import { addressText, type Address } from '../model/member.ts';
import { CommandEnd, unlessEnded, wrong } from './command-end.ts';
import { fileFor, load, withoutCluster } from './configuration.ts';
import { EXIT, type CliIo } from './io.ts';

export interface RunningOptions {
  readonly config?: string | undefined;
  /** `host:port` or a URL; overrides the configuration. */
  readonly admin?: string | undefined;
  /** Print JSON instead of text. */
  readonly json?: boolean | undefined;
}

/** Options of a command that asks before it changes something. */
export interface ConsentOptions extends RunningOptions {
  /** Do not ask. */
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface Running {
  readonly address: Address;
  /** An https URL was given: a proxy in front of the admin address answers TLS. */
  readonly isTls: boolean;
  readonly admin: AdminConfig;
}

const NO_ADDRESS = 'So the address of Pointsman is not known: use --admin HOST:PORT, or -c with another file.';
const ONE_ALONE =
  '--admin: this command goes to one Pointsman, so name one address. ' +
  'status, sessions, drain, resume and accept take several';
export const ELSEWHERE = 'Use --admin HOST:PORT for another address.';

/** Ends the command if there is no address. A file with errors is tolerated if it has one. */
export function findRunning(options: RunningOptions, io: CliIo): Running {
  if (options.admin?.includes(',') === true) return wrong(io, ONE_ALONE);
  const given = options.admin === undefined ? undefined : parseAdminAddress(options.admin);
  if (given?.kind === 'invalid') return wrong(io, `--admin: ${given.message}`);
  const found = findAdmin(options, io, given?.value);
  const { admin, fault } = found;
  const { host, port } = given?.value ?? admin.address;
  if (port === 0) return wrong(io, 'admin.address has port 0, so the port in use is unknown: use --admin HOST:PORT');
  const isEverywhere = given === undefined && (host === '::' || host === '0.0.0.0');
  const address = { host: isEverywhere ? '127.0.0.1' : host, port };
  if (fault !== undefined) io.stderr(`pointsman: ${fault}; continuing with ${addressText(address)}\n`);
  return { address, isTls: given?.value.isTls ?? false, admin };
}

/** Says nothing. Undefined: the address is not known. */
export async function runningIfKnown(options: RunningOptions, io: CliIo): Promise<Running | undefined> {
  const running = await unlessEnded(() => findRunning(options, { ...io, stderr: () => {} }));
  return running instanceof CommandEnd ? undefined : running;
}

interface FoundAdmin {
  readonly admin: AdminConfig;
  /** The problems in the rest of the configuration. */
  readonly fault?: string;
}

function findAdmin({ config }: RunningOptions, io: CliIo, given: Address | undefined): FoundAdmin {
  const options = { config };
  const own = withoutCluster(options, io);
  const { env } = own;
  const loaded = load(options, own);
  if (loaded.kind === 'ok') return { admin: loaded.config.admin };
  const file = fileFor(options, own);
  const { readFile } = io;
  const source = { env, ...(readFile === undefined ? {} : { readFile }) };
  const isAddressGiven = given !== undefined || Boolean(env['POINTSMAN_ADMIN_ADDRESS']);
  const admin =
    loadAdmin({ ...source, file }) ?? (isAddressGiven ? loadAdmin({ ...source, file: undefined }) : undefined);
  if (admin === undefined) {
    io.stderr(`${formatProblems(loaded.problems)}\n${NO_ADDRESS}\n`);
    throw new CommandEnd(EXIT.usage);
  }
  const [first] = loaded.problems;
  const what = first === undefined ? '' : ` (${formatProblems([first])})`;
  return { admin, fault: `the configuration has ${countText(loaded.problems.length, 'problem')}${what}` };
}

/** Ends the command if there is none. */
export async function tokenFor({ admin }: Running, io: CliIo): Promise<string> {
  const token = await readAdminToken(admin);
  if (token.kind === 'token') return token.value;
  const none =
    'this command needs the admin token: set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE) or POINTSMAN_ADMIN_TOKEN';
  return wrong(io, token.kind === 'none' ? none : token.why);
}
