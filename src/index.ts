// The package's entrance for programs that embed Pointsman, such as tests. It is small on purpose and has plain types
// of its own: everything else may change with any version. It reads no environment, handles no signals and writes
// nothing.
import { stringify } from 'yaml';
import { createApp as compose } from './app/app.ts';
import { loadConfig } from './config/load.ts';
import { formatProblems } from './config/fault.ts';
import { version } from './app/package.ts';
import { createSystemClock } from './app/system-clock.ts';
import { createLog } from './telemetry/log.ts';

export interface Options {
  /** The content of pointsman.yaml: its text, or the same as a value. */
  readonly config: string | Readonly<Record<string, unknown>>;
  /**
   * Gets every log line, parsed: `level`, `time`, `msg`, mostly `event`. Must not throw. Default: lines are dropped.
   */
  readonly onLog?: (line: Readonly<Record<string, unknown>>) => void;
}

export type Created =
  | { readonly kind: 'created'; readonly app: App; readonly warnings: readonly string[] }
  /** One line each, with the place in the file. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/**
 * The address of a pool's listener. Pool `admin` is HTTP. The port is the real one, also when the configuration has 0.
 */
export interface Listening {
  readonly pool: string;
  readonly host: string;
  readonly port: number;
}

export type Started =
  | { readonly kind: 'started'; readonly listening: readonly Listening[] }
  /** Nothing is bound. */
  | { readonly kind: 'failed'; readonly why: string };

export interface App {
  /** Binds every address or none, then begins to watch the cluster. Once. */
  start(): Promise<Started>;
  /** Resolves when every member was probed once and the pools are decided. Never resolves while no member is known. */
  ready(): Promise<void>;
  /** As SIGTERM: `shutdown.grace`, `shutdown.wait` and `shutdown.drain_timeout`, then the end. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  stop(): Promise<void>;
}

/** Nothing is bound or contacted before `start`. */
export function createApp({ config: written, onLog = () => {} }: Options): Created {
  const text = typeof written === 'string' ? written : stringify(written);
  const loaded = loadConfig({ file: 'config', env: {}, readFile: () => text });
  if (loaded.kind === 'invalid') return { kind: 'invalid', problems: formatProblems(loaded.problems).split('\n') };
  const { config, warnings } = loaded;
  const destination = { write: (line: string): void => onLog(JSON.parse(line)) };
  const { log, access } = createLog({ level: config.log.level, format: 'json', isTerminal: false, destination });
  const clock = createSystemClock(process.hrtime);
  const inner = compose({ config, log, access, version, nodeVersion: process.version, clock });
  const app: App = {
    start: async () => {
      const started = await inner.start();
      if (started.kind === 'failed') return started;
      return { kind: 'started', listening: started.listeners.map(({ pool, address }) => ({ pool, ...address })) };
    },
    ready: () => inner.complete(),
    drain: async () => void (await inner.drain()),
    stop: () => inner.stop(),
  };
  return { kind: 'created', app, warnings: warnings.map((warning) => formatProblems([warning])) };
}
