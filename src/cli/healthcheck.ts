// `pointsman healthcheck`: is the Pointsman of this host ready? Run every few seconds by what supervises containers, so it loads
// next to nothing, and judges the running program, not its file: from that it takes where to ask, and passes over what is wrong in it.
import { readFileSync } from 'node:fs';
import type * as Http from 'node:http';
import { createRequire } from 'node:module';
import { parseAdminAddress, parseListenAddress } from '../config/schema/address.ts';
import { childOf } from '../config/source/tree.ts';
import { readYaml } from '../config/source/yaml-text.ts';
import { addressText } from '../model/member.ts';
import type { Address } from '../model/member.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';

export interface HealthcheckOptions {
  readonly config?: string | undefined;
  /** `host:port`, instead of the configuration's. */
  readonly admin?: string | undefined;
  /** Only whether the process answers. */
  readonly live?: boolean | undefined;
}

// An import of node:http has Node load its fetch and its WebSocket as well: 12 MB of memory, and time.
const http: typeof Http = createRequire(import.meta.url)('node:http');

const USUAL: Address = { host: '127.0.0.1', port: 8432 };
const DEADLINE_MS = 4000;
/** The sentence that says why it is not ready, and no more of an answer without end. */
const MOST_CHARACTERS = 2000;

/** Exit code 0 when it is ready, else 1; 2 when `admin` is no address. */
export async function healthcheck(options: HealthcheckOptions, io: CliIo): Promise<number> {
  const given = options.admin === undefined ? undefined : parseAdminAddress(options.admin);
  if (given?.kind === 'invalid') {
    io.stderr(`pointsman: --admin: ${given.message}\n`);
    return EXIT.usage;
  }
  const address = given?.value ?? configuredAddress(options, io);
  const path = options.live === true ? '/livez' : '/readyz';
  const { ok, text } = await get(address, path);
  const line = `${addressText(address)}${path}: ${sentence(text)}\n`;
  if (ok) io.stdout(line);
  else io.stderr(line);
  return ok ? EXIT.ok : EXIT.failure;
}

/** What an answer says, on one line: a failure is told as `{ "error": … }`. */
function sentence(text: string): string {
  if (isMarkup(text)) return "what answers there is no Pointsman's admin address";
  const told = errorIn(text);
  return (typeof told === 'string' ? told : text).trim().replaceAll(/\s+/g, ' ');
}

/** Another program's page. */
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

/** As `run` would find it. Where that cannot be read, the usual one. */
function configuredAddress({ config }: HealthcheckOptions, { env, readFile }: CliIo): Address {
  const file = config ?? (env['POINTSMAN_CONFIG'] || undefined);
  const written = env['POINTSMAN_ADMIN_ADDRESS'] || (file === undefined ? undefined : addressIn(file, readFile));
  const parsed = typeof written === 'string' ? parseListenAddress(written) : undefined;
  if (parsed?.kind !== 'ok') return USUAL;
  const { host, port } = parsed.value;
  return { host: host === '::' || host === '0.0.0.0' ? USUAL.host : host, port };
}

function addressIn(file: string, readFile = (name: string): string => readFileSync(name, 'utf8')): unknown {
  try {
    const yaml = readYaml(readFile(file));
    return yaml.kind === 'tree' ? childOf(childOf(yaml.tree, 'admin'), 'address') : undefined;
  } catch {
    return undefined;
  }
}

function get({ host, port }: Address, path: string): Promise<{ readonly ok: boolean; readonly text: string }> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const fail = (error: Error): void =>
      resolve({ ok: false, text: signal.aborted ? `no answer within ${DEADLINE_MS / 1000} s` : error.message });
    const sent = http.request({ host, port, path, agent: false, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text = (text + part).slice(0, MOST_CHARACTERS);
      });
      response.on('error', fail);
      response.on('end', () => resolve({ ok: response.statusCode === 200 && !isMarkup(text), text }));
    });
    sent.on('error', fail);
    sent.end();
  });
}
