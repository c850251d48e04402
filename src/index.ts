// The package's entrance for programs that carry Pointsman inside, tests for one. Deliberately small and in plain types of its own: what is not
// here may change with any version. Reads no environment, listens to no signal, writes nowhere.
import { stringify } from 'yaml';
import { createApp as compose } from './app/app.ts';
import { loadConfig } from './config/load.ts';
import { formatProblems } from './config/fault.ts';
import { version } from './app/package-version.ts';
import { createSystemClock } from './app/system-clock.ts';
import { createLog } from './telemetry/log.ts';

export interface Options {
  /** What pointsman.yaml would say: its text, or the same as a value. */
  readonly config: string | Readonly<Record<string, unknown>>;
  /** Takes every log line, parsed: `level`, `time`, `msg`, most with `event`. Must not throw. Default: nobody reads them. */
  readonly onLog?: (line: Readonly<Record<string, unknown>>) => void;
}

export type Created =
  | { readonly kind: 'created'; readonly app: App; readonly warnings: readonly string[] }
  /** One line each, with the place in the file. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** Where clients of a pool connect; of the pool `admin`, HTTP. The port is the real one, also where the configuration says 0. */
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
  /** Resolves when every member has been asked once: from then on the pools are decided. Never, while no member is known. */
  ready(): Promise<void>;
  /** As SIGTERM: `shutdown.grace`, `shutdown.wait` and `shutdown.drain`, then the end. */
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
  const { log } = createLog({ level: config.log.level, format: 'json', isTerminal: false, destination });
  const clock = createSystemClock(process.hrtime);
  const inner = compose({ config, log, version, nodeVersion: process.version, clock });
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
