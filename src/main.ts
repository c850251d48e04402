#!/usr/bin/env -S node --max-semi-space-size=2 --liftoff-only --expose-gc
// The main program: argv, environment, signals, exit codes. The flags in the first line keep V8's young generation small
// (by default it grows beyond 100 MB under load), compile WebAssembly (undici's parser) with 9 MB less memory, and allow
// an explicit garbage collection.
import { createApp } from './app/app.ts';
import type { App } from './app/app.ts';
import { EXIT } from './cli/io.ts';
import type { Reload, RunApp, SandboxParts } from './cli/io.ts';
import { runCli } from './cli/program.ts';
import { durationText } from './core/describe.ts';
import type { Terminal } from './sandbox/run.ts';
import { VERBS } from './sandbox/console/verb-list.ts';
import { surveySeeds } from './app/check-seeds.ts';
import type { Config } from './config/config.ts';
import { formatProblems } from './config/fault.ts';
import { readOpenFiles } from './app/open-files.ts';
import { version } from './app/package-version.ts';
import { systemClock } from './app/system-clock.ts';
import { createSystemd } from './systemd/notify.ts';
import type { Systemd } from './systemd/notify.ts';
import { passedSockets } from './systemd/sockets.ts';
import { createLog } from './telemetry/log.ts';
import type { Log, OpenLog } from './telemetry/log.ts';

/** SIGTERM or SIGINT arrived. */
const ASKED = Symbol('asked to end');

const runApp: RunApp = async ({ config, warnings, file, reload }) => {
  const asked = listenForEnd();
  const { log, flush, dropped } = openLog(config.log);
  logStarting(log, config, file);
  for (const warning of warnings) log.warn({ event: 'config_warning' }, formatProblems([warning]));
  const inherited = passedSockets(process.env, process.pid);
  const seams = { load: reload, inherited, droppedLogLines: dropped, openFiles: readOpenFiles };
  const app = createApp({ config, log, version, nodeVersion: process.version, ...seams });
  const systemd = createSystemd({
    env: process.env,
    pid: process.pid,
    clock: systemClock,
    sockets: inherited,
    onTrouble: (why) => log.warn({ event: 'systemd_notify_failed' }, why),
  });
  process.on('SIGHUP', () => void onHangUp(app, log, reload, systemd));
  // Loading leaves 3 MB of garbage. V8 would collect it much later, in a pause of about 50 ms while clients wait.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  try {
    const started = await Promise.race([app.start(), asked.once]);
    if (started === ASKED) {
      // Readiness was not reported yet. Sockets and workers end with the process.
      log.info({ event: 'stopped' }, 'stopped by a signal before the start was complete');
      return EXIT.ok;
    }
    if (started.kind === 'failed') {
      process.stderr.write(`pointsman: ${started.why}\n`);
      return EXIT.failure;
    }
    systemd.started(app.complete());
    void app.complete().then(() => log.info({ event: 'ready' }, 'ready: the first round of probes is complete'));
    await asked.once;
    systemd.stopping();
    logStopping(log, config.shutdown);
    const since = systemClock.now();
    const closed = await Promise.race([app.drain(), asked.twice]);
    await app.stop();
    logStopped(log, closed === ASKED ? undefined : closed, systemClock.now() - since);
    return closed === ASKED ? EXIT.failure : EXIT.ok;
  } finally {
    systemd.end();
    await flush();
  }
};

function logStarting(log: Log, { cluster }: Config, file: string | undefined): void {
  const fields = { version, node_version: process.version, config: file ?? 'environment', scope: cluster.scope };
  const name = cluster.scope === undefined ? '' : `, cluster ${cluster.scope}`;
  const text = `pointsman ${version} starting, node ${process.version}, config ${fields.config}${name}, pid ${process.pid}`;
  log.info({ event: 'starting', ...fields, pid: process.pid }, text);
}

function logStopping(log: Log, { graceMs, drainTimeoutMs }: Config['shutdown']): void {
  const grace = `accepting for ${durationText(graceMs)}`;
  const drain = `then draining for up to ${durationText(drainTimeoutMs)}`;
  const text = `shutting down: not ready any more, ${grace}, ${drain} (a second signal stops at once)`;
  log.info({ event: 'stopping', grace_ms: graceMs, drain_timeout_ms: drainTimeoutMs }, text);
}

/** `sessions`: closed since the first signal; undefined: a second signal ended the drain. */
function logStopped(log: Log, sessions: number | undefined, durationMs: number): void {
  const fields = { event: 'stopped', sessions, duration_ms: Math.round(durationMs) };
  const after = `after ${durationText(durationMs)}`;
  if (sessions === undefined) log.warn(fields, `stopped by a second signal ${after}, before the drain was complete`);
  else log.info(fields, `stopped ${after}, ${sessions === 1 ? '1 session' : `${sessions} sessions`} closed`);
}

function openLog(options: Config['log']): OpenLog {
  return createLog({ ...options, isTerminal: process.stdout.isTTY, onFailing: reportLogFailure });
}

function reportLogFailure({ code, message }: NodeJS.ErrnoException): void {
  process.stderr.write(`pointsman: cannot write the log: ${code ?? message}\n`);
}

/** Reloads the configuration. The app logs the result. */
async function onHangUp(app: App, log: Log, reload: Reload, systemd: Systemd): Promise<void> {
  systemd.reloading();
  try {
    const loaded = reload();
    if (loaded.kind === 'no_file')
      return log.warn({ event: 'config_not_reloaded' }, 'SIGHUP ignored: there is no configuration file');
    if (loaded.kind === 'ok')
      for (const warning of loaded.warnings) log.warn({ event: 'config_warning' }, formatProblems([warning]));
    await app.reload(loaded);
  } catch (error) {
    log.error({ event: 'config_not_reloaded', err: error }, 'configuration reload failed');
  } finally {
    systemd.reloaded();
  }
}

/** Watches for the signals that end the program. */
function listenForEnd(): { readonly once: Promise<typeof ASKED>; readonly twice: Promise<typeof ASKED> } {
  const [first, second] = [Promise.withResolvers<typeof ASKED>(), Promise.withResolvers<typeof ASKED>()];
  let isAsked = false;
  const onSignal = (): void => {
    (isAsked ? second : first).resolve(ASKED);
    isAsked = true;
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return { once: first.promise, twice: second.promise };
}

const terminal: Terminal = {
  write: (text) => void process.stdout.write(text),
  onKey: process.stdin.isTTY
    ? (listener) => {
        process.stdin.setRawMode(true).on('data', (keys) => Array.from(keys.toString()).forEach(listener));
      }
    : undefined,
  onEnd: (listener) => void process.on('SIGTERM', listener).on('SIGINT', listener).on('SIGHUP', listener),
};
/** Loaded on demand: a proxy never needs it. */
const loadSandbox = () => import('./sandbox/run.ts');
const sandbox: SandboxParts = {
  verbs: VERBS,
  run: async (request) => {
    const { runSandbox } = await loadSandbox();
    const command = import.meta.url.endsWith('.ts') ? 'npm run -s sandbox --' : 'pointsman sandbox';
    return runSandbox({ request, terminal, version, nodeVersion: process.version, command });
  },
  ask: async (...order) => (await loadSandbox()).askSandbox(...order),
  sql: async (...statement) => (await loadSandbox()).sandboxSql(...statement),
};

const io = {
  env: process.env,
  stdout: (text: string) => void process.stdout.write(text),
  stderr: (text: string) => void process.stderr.write(text),
};
// Exit at once: pending work, such as a name lookup, must not keep a finished program alive.
process.exit(await runCli(process.argv.slice(2), io, { runApp, survey: surveySeeds, sandbox, version }));
