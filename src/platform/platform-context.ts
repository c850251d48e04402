// Where a command finds the model platform: the section `platform` of a file or of the environment. The running
// Pointsman is never asked, because it never talks to the platform.
import type { ApiError } from '../http/request.ts';
import type { PlatformPolicy } from '../config/schema/platform-section.ts';
import { onOneLine } from '../model/printable.ts';
import type { PlatformClient } from './client/client.ts';
import { configFor, withoutCluster } from '../cli/configuration.ts';
import { fail as end, wrong } from '../cli/command-end.ts';
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

const NEEDED =
  'set platform.url, platform.api_key_file and platform.beta_header in the configuration (-c FILE), or ' +
  'POINTSMAN_PLATFORM_URL, POINTSMAN_PLATFORM_API_KEY_FILE and POINTSMAN_PLATFORM_BETA_HEADER';

export function platformConfig({ config }: Pick<PlatformOptions, 'config'>, io: CliIo): PlatformConfig {
  const { file, config: loaded } = configFor({ config }, withoutCluster({ config }, io));
  const { platform, incidents } = loaded;
  if (platform !== undefined) return { policy: platform, incidents: incidents.directory };
  return wrong(io, `${file ?? 'the environment'} has no section \`platform\`: ${NEEDED}`);
}

export async function openPlatform(
  options: Pick<PlatformOptions, 'config'>,
  io: CliIo,
  parts: PlatformParts,
): Promise<PlatformContext> {
  const found = platformConfig(options, io);
  return { ...found, client: await parts.openPlatform(found.policy), io };
}

/** `why` may have words of the platform. */
export function fail(io: CliIo, why: string, code?: number): never {
  return end(io, onOneLine(why), code);
}

/** After these the platform may have done its part. */
const UNCERTAIN: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'server_error']);

/** Waits for a request. `hint`: where to look when the platform may have done its part. */
export async function asked<T>(io: CliIo, request: Promise<T>, hint = ''): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!isApiError(error)) throw error;
    return fail(io, `${error.message}${error.wasSent && UNCERTAIN.has(error.failure) ? hint : ''}`);
  }
}

/** The class itself would load the HTTP client, also for commands that send nothing. */
function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && 'failure' in error && 'wasSent' in error;
}
