// Where a command finds the model platform: the section `platform` of a file or of the environment. The running
// Pointsman is never asked, because it never talks to the platform.
import type { ApiError } from '../http/request.ts';
import type { PlatformPolicy } from '../config/schema/platform-section.ts';
import { onOneLine } from '../model/printable.ts';
import type { PlatformClient } from './client/client.ts';
import { configFor, fileFor } from '../cli/configuration.ts';
import { EXIT } from '../cli/io.ts';
import type { CliIo } from '../cli/io.ts';

export interface PlatformParts {
  readonly openPlatform: (policy: PlatformPolicy) => Promise<PlatformClient>;
}

export interface PlatformOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

export interface PlatformConfig {
  readonly policy: PlatformPolicy;
  /** Where the configuration has incidents. */
  readonly incidents: string | undefined;
}

export interface PlatformContext extends PlatformConfig {
  readonly client: PlatformClient;
  readonly io: CliIo;
}

/** A configuration needs a seed. Nothing contacts this one. */
const NO_SEED = 'http://127.0.0.1:1';
const NEEDED =
  'set platform.url, platform.api_key_file and platform.beta_header in the configuration (-c FILE), or ' +
  'POINTSMAN_PLATFORM_URL, POINTSMAN_PLATFORM_API_KEY_FILE and POINTSMAN_PLATFORM_BETA_HEADER';

/** A number is the exit code; the reason is then on stderr. */
export function platformConfig({ config }: Pick<PlatformOptions, 'config'>, io: CliIo): PlatformConfig | number {
  const file = fileFor({ config }, io);
  // The environment alone needs no cluster here.
  const env = file === undefined ? { POINTSMAN_CLUSTER_SEEDS: NO_SEED, ...io.env } : io.env;
  const loaded = configFor({ config }, { ...io, env });
  if (loaded === undefined) return EXIT.usage;
  const { platform, incidents } = loaded.config;
  if (platform !== undefined) return { policy: platform, incidents: incidents.directory };
  io.stderr(`pointsman: ${file ?? 'the environment'} has no section \`platform\`: ${NEEDED}\n`);
  return EXIT.usage;
}

/** A number is the exit code; the reason is then on stderr. */
export async function openPlatform(
  options: Pick<PlatformOptions, 'config'>,
  io: CliIo,
  parts: PlatformParts,
): Promise<PlatformContext | number> {
  const found = platformConfig(options, io);
  if (typeof found === 'number') return found;
  return { ...found, client: await parts.openPlatform(found.policy), io };
}

export function fail(io: CliIo, why: string, code: number = EXIT.failure): number {
  io.stderr(`pointsman: ${onOneLine(why)}\n`);
  return code;
}

/** After these the platform may have done its part. */
const UNCERTAIN: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'server_error']);

/**
 * Waits for a request. A number is the exit code; the reason is then on stderr. `hint`: where to look when the platform
 * may have done its part.
 */
export async function asked<T>(io: CliIo, request: Promise<T>, hint = ''): Promise<{ readonly value: T } | number> {
  try {
    return { value: await request };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return fail(io, `${error.message}${error.wasSent && UNCERTAIN.has(error.failure) ? hint : ''}`);
  }
}

/** The class itself would load the HTTP client, also for commands that send nothing. */
function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && 'failure' in error && 'wasSent' in error;
}
