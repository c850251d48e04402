// Runs the app as a process: log, signals, systemd and exit code.
import { createApp, type ComposedApp } from './app.ts';
import { EXIT, type Reload, type RunApp } from '../cli/io.ts';
import type { Config } from '../config/config.ts';
import { formatProblems } from '../config/fault.ts';
import { durationText } from '../core/describe.ts';
import { afterStart, beforeStart } from './engine.ts';
import type { Clock } from '../model/instant.ts';
import { readOpenFiles } from './open-files.ts';
import { version } from './package.ts';
import { passthroughLimits } from './passthrough-limits.ts';
import { EVENTS_VERSION } from '../reports/events.ts';
import { createSystemd, type Systemd } from '../systemd/notify.ts';
import { passedSockets } from '../systemd/sockets.ts';
import { createLog, type Log, type OpenLog } from '../telemetry/log.ts';

/** SIGTERM or SIGINT arrived. */
const ASKED = Symbol('asked to end');

/** `process`: that of the program. */
export async function runApp(process: NodeJS.Process, clock: Clock, start: Parameters<RunApp>[0]): Promise<number> {
  const { config, warnings, file, reload } = start;
  // Node's `listen` loads it. After the next line V8 would compile it anew.
  process.getBuiltinModule('node:cluster');
  beforeStart();
  const asked = listenForEnd(process);
  const { log: own, access, flush, dropped } = openLog(process, config.log);
  const inherited = passedSockets(process.env, process.pid);
  const dependencies = { load: reload, inherited, droppedLogLines: dropped, openFiles: readOpenFiles };
  const app = createApp({
    config,
    source: file,
    log: own,
    access,
    version,
    nodeVersion: process.version,
    clock,
    ...dependencies,
  });
  const { log } = app;
  logStarting(log, process, config, file);
  for (const warning of warnings) log.warn({ event: 'config_warning' }, formatProblems([warning]));
  const limits = passthroughLimits(config);
  if (limits !== undefined) log.info({ event: 'passthrough_limits' }, limits);
  const systemd = createSystemd({
    env: process.env,
    pid: process.pid,
    clock,
    sockets: inherited,
    onTrouble: (why) => log.warn({ event: 'systemd_notify_failed' }, why),
  });
  process.on('SIGHUP', () => void onHangUp(app, log, reload, systemd));
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
    const onFault = (error: unknown): void => app.fault(error);
    process.on('uncaughtException', onFault).on('unhandledRejection', onFault);
    // Only clients that came before this wait for it: the others are accepted in a later turn of the event loop.
    afterStart();
    systemd.started(app.complete());
    void app.complete().then(() => log.info({ event: 'ready' }, 'ready: the first round of probes is complete'));
    await asked.once;
    systemd.stopping();
    logStopping(log, app.config().shutdown);
    const since = clock.now();
    const closed = await Promise.race([app.drain(), asked.twice]);
    await app.stop();
    logStopped(log, closed === ASKED ? undefined : closed, clock.now() - since);
    return closed === ASKED ? EXIT.failure : EXIT.ok;
  } finally {
    systemd.end();
    await flush();
  }
}

function logStarting(log: Log, process: NodeJS.Process, { cluster }: Config, file: string | undefined): void {
  const { pid, version: node } = process;
  const run = { version, events_version: EVENTS_VERSION, pid };
  const fields = { node_version: node, config: file ?? 'environment', scope: cluster.scope };
  const name = cluster.scope === undefined ? '' : `, cluster ${cluster.scope}`;
  const text = `pointsman ${version} starting, node ${node}, config ${fields.config}${name}, pid ${pid}`;
  log.info({ event: 'starting', ...run, ...fields }, text);
}

function logStopping(log: Log, { graceMs, drainTimeoutMs }: Config['shutdown']): void {
  const grace = graceMs === 0 ? '' : `accepting for ${durationText(graceMs)}, then `;
  const drain = `draining for up to ${durationText(drainTimeoutMs)}`;
  const text = `shutting down: not ready any more, ${grace}${drain} (a second signal stops at once)`;
  log.info({ event: 'stopping', grace_ms: graceMs, drain_timeout_ms: drainTimeoutMs }, text);
}

/** `sessions`: closed since the first signal; undefined: a second signal ended the drain. */
function logStopped(log: Log, sessions: number | undefined, durationMs: number): void {
  const fields = { event: 'stopped', sessions, duration_ms: Math.round(durationMs) };
  const after = `after ${durationText(durationMs)}`;
  if (sessions === undefined) log.warn(fields, `stopped by a second signal ${after}, before the drain was complete`);
  else log.info(fields, `stopped ${after}, ${sessions === 1 ? '1 session' : `${sessions} sessions`} closed`);
}

function openLog({ stdout, stderr }: NodeJS.Process, options: Config['log']): OpenLog {
  const onFailing = ({ code, message }: NodeJS.ErrnoException): void => {
    stderr.write(`pointsman: cannot write the log: ${code ?? message}\n`);
  };
  // hasColors() knows NO_COLOR and what TERM can show.
  const colour = stdout.isTTY && stdout.hasColors();
  return createLog({ ...options, isTerminal: stdout.isTTY, colour, onFailing });
}

/** Reloads the configuration. The app logs the result. */
async function onHangUp(app: ComposedApp, log: Log, reload: Reload, systemd: Systemd): Promise<void> {
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
function listenForEnd(process: NodeJS.Process): {
  readonly once: Promise<typeof ASKED>;
  readonly twice: Promise<typeof ASKED>;
} {
  const [first, second] = [Promise.withResolvers<typeof ASKED>(), Promise.withResolvers<typeof ASKED>()];
  let isAsked = false;
  const onSignal = (): void => {
    (isAsked ? second : first).resolve(ASKED);
    isAsked = true;
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return { once: first.promise, twice: second.promise };
}
