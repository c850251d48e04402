// `pointsman healthcheck`: whether the local Pointsman is ready. Container runtimes run it every few seconds, so it
// loads very little. It takes only the admin address from the configuration and ignores any errors in it.
import { readFileSync } from 'node:fs';
import { parseAdminAddress, parseListenAddress } from '../config/schema/address.ts';
import { childOf } from '../config/source/tree.ts';
import { readYaml } from '../config/source/yaml-text.ts';
import { addressText, type Address } from '../model/member.ts';
import { adminExchange, whyNot, type AdminServer } from './admin-exchange.ts';
import { EXIT, type CliIo } from './io.ts';
import type { RunningOptions } from './running.ts';

export interface HealthcheckOptions extends RunningOptions {
  /** Liveness only. */
  readonly live?: boolean | undefined;
}

const DEFAULT: Address = { host: '127.0.0.1', port: 8432 };
const DEADLINE_MS = 4000;
/** Enough for the sentence about readiness. */
const MOST_CHARACTERS = 2000;

/** Exit code 0 if it is ready, 1 otherwise, 2 if `admin` is not an address. */
export async function healthcheck(options: HealthcheckOptions, io: CliIo): Promise<number> {
  const given = options.admin === undefined ? undefined : parseAdminAddress(options.admin);
  if (given?.kind === 'invalid') {
    io.stderr(`pointsman: --admin: ${given.message}\n`);
    return EXIT.usage;
  }
  const address = given?.value ?? configuredAddress(options, io);
  const path = options.live === true ? '/livez' : '/readyz';
  const { ok, text } = await get({ address, isTls: given?.value.isTls ?? false }, path);
  const line = `${addressText(address)}${path}: ${sentence(text)}\n`;
  if (ok) io.stdout(line);
  else io.stderr(line);
  return ok ? EXIT.ok : EXIT.failure;
}

/** The answer on one line; a failure has the form `{ "error": … }`. */
function sentence(text: string): string {
  if (isMarkup(text)) return 'not a Pointsman admin endpoint';
  const error = errorIn(text);
  return (typeof error === 'string' ? error : text).trim().replaceAll(/\s+/g, ' ');
}

/** The page of another program. */
function isMarkup(text: string): boolean {
  return /^\s*</.test(text);
}

function errorIn(text: string): unknown {
  try {
    return childOf(JSON.parse(text), 'error');
  } catch {
    return undefined;
  }
}

/** The address that `run` would use; the default one if that cannot be read. */
function configuredAddress({ config }: HealthcheckOptions, { env, readFile }: CliIo): Address {
  const file = config ?? (env['POINTSMAN_CONFIG'] || undefined);
  const written = env['POINTSMAN_ADMIN_ADDRESS'] || (file === undefined ? undefined : addressIn(file, readFile));
  const parsed = typeof written === 'string' ? parseListenAddress(written) : undefined;
  if (parsed?.kind !== 'ok') return DEFAULT;
  const { host, port } = parsed.value;
  return { host: host === '::' || host === '0.0.0.0' ? DEFAULT.host : host, port };
}

function addressIn(file: string, readFile = (name: string): string => readFileSync(name, 'utf8')): unknown {
  try {
    const yaml = readYaml(readFile(file));
    return yaml.kind === 'tree' ? childOf(childOf(yaml.tree, 'admin'), 'address') : undefined;
  } catch {
    return undefined;
  }
}

async function get(at: AdminServer, path: string): Promise<{ readonly ok: boolean; readonly text: string }> {
  try {
    const { status, body } = await adminExchange(at, { path, deadlineMs: DEADLINE_MS });
    return { ok: status === 200 && !isMarkup(body), text: body.slice(0, MOST_CHARACTERS) };
  } catch (error) {
    return { ok: false, text: whyNot(error) };
  }
}
