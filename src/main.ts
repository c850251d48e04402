#!/usr/bin/env -S node --max-semi-space-size=2 --liftoff-only --expose-gc
// The process: argv, environment, signals, exit codes. The first line keeps V8's young
// generation small (by default it grows beyond 100 MB while sessions come, and every scavenge walks through all of the cache),
// has WebAssembly, which is undici's small parser alone, compiled in the way that takes 9 MB less, and lets us ask for a collection.
import { createApp } from './app/app.ts';
import type { App } from './app/app.ts';
import { EXIT } from './cli/io.ts';
import type { Reload, RunApp, SandboxParts } from './cli/io.ts';
import { runCli } from './cli/program.ts';
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

/** By SIGTERM or SIGINT. */
const ASKED = Symbol('asked to end');

const runApp: RunApp = async (config, warnings, reload) => {
  const asked = listenForEnd();
  const { log, flush, dropped } = openLog(config.log);
  for (const warning of warnings) log.warn(formatProblems([warning]));
  const inherited = passedSockets(process.env, process.pid);
  const seams = { load: reload, inherited, droppedLogLines: dropped, openFiles: readOpenFiles };
  const app = createApp({ config, log, version, nodeVersion: process.version, ...seams });
  const systemd = createSystemd({
    env: process.env,
    pid: process.pid,
    clock: systemClock,
    sockets: inherited,
    onTrouble: (why) => log.warn({ event: 'systemd_not_told' }, why),
  });
  process.on('SIGHUP', () => void hangUp(app, log, reload, systemd));
  // What loading and the configuration left behind: 3 MB, which V8 would come to long after, in some 50 ms that now nobody waits for.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  try {
    const started = await Promise.race([app.start(), asked.once]);
    if (started === ASKED) {
      // Nobody was told that we are ready. What is bound ends with the process, as do its workers.
      log.info('told to end before the start was complete');
      return EXIT.ok;
    }
    if (started.kind === 'failed') {
      process.stderr.write(`pointsman: ${started.why}\n`);
      return EXIT.failure;
    }
    systemd.started(app.complete());
    await asked.once;
    systemd.stopping();
    log.info('shutting down: not ready, then no new connections, then no session');
    const code = await Promise.race([app.drain().then(() => EXIT.ok), asked.twice.then(() => EXIT.failure)]);
    await app.stop();
    return code;
  } finally {
    systemd.end();
    await flush();
  }
};

function openLog(options: Config['log']): OpenLog {
  return createLog({ ...options, isTerminal: process.stdout.isTTY, onFailing: tellLogFails });
}

function tellLogFails({ code, message }: NodeJS.ErrnoException): void {
  process.stderr.write(`pointsman: the log cannot be written: ${code ?? message}\n`);
}

/** Reads the configuration again. What comes of it, the app tells. */
async function hangUp(app: App, log: Log, reload: Reload, systemd: Systemd): Promise<void> {
  systemd.reloading();
  try {
    const loaded = reload();
    if (loaded.kind === 'no_file') return log.warn('SIGHUP: nothing to read again, there is no configuration file');
    if (loaded.kind === 'ok') for (const warning of loaded.warnings) log.warn(formatProblems([warning]));
    await app.reload(loaded);
  } catch (error) {
    log.error({ err: error }, 'the configuration could not be reloaded');
  } finally {
    systemd.reloaded();
  }
}

/** Who asks us to end, from now on. */
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
/** A proxy that serves has no use for any of it, so it is loaded when it is asked for. */
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
// Nothing that is still under way, a name lookup for one, may keep a program that has ended.
process.exit(await runCli(process.argv.slice(2), io, { runApp, survey: surveySeeds, sandbox, version }));
