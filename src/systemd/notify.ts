// Tells systemd how we are: ready, reloading, stopping, alive (https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html).
// Node has no datagram sockets on a path, so the program systemd-notify sends what is to be sent. One small shell runs it for us all our life:
// to fork from a process of our size for each message would stop the event loop for milliseconds. Never waits, never fails the caller.
import { spawn } from 'node:child_process';
import type { Clock } from '../model/instant.ts';
import type { PassedSocket } from './sockets.ts';

export interface SystemdOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly clock: Clock;
  /** What was passed to us is not the shell's. */
  readonly sockets: readonly PassedSocket[];
  readonly onTrouble: (why: string) => void;
}

export interface Systemd {
  /** At the first complete picture of the cluster; or when that takes long, because an outage of the cluster is no failure to start. */
  readonly started: (complete: Promise<void>) => void;
  readonly reloading: () => void;
  readonly reloaded: () => void;
  readonly stopping: () => void;
  /** No more messages. */
  readonly end: () => void;
}

type Send = (...assignments: readonly string[]) => void;

/** systemctl start waits no longer than this for a cluster that does not answer. */
const LONGEST_START_MS = 10_000;
/** One message a line, its assignments with tabs between them. What stops us does not stop it before it has told so. */
const SHELL = `
trap '' HUP INT TERM
command -v systemd-notify >/dev/null || { echo 'there is no program systemd-notify' >&2; exit 127; }
set -f
tab=$(printf '\\t')
while IFS= read -r line; do IFS=$tab; systemd-notify $line; IFS=; done
`;

const nothing = (): void => {};
const SILENCE = { send: nothing, end: nothing };

/** Does nothing where nobody listens: NOTIFY_SOCKET is unset. */
export function createSystemd(options: SystemdOptions): Systemd {
  const { clock } = options;
  const socket = options.env['NOTIFY_SOCKET'] ?? '';
  const { send, end } = socket === '' ? SILENCE : startShell(options);
  let cancelStart = nothing;
  let cancelBeat = nothing;
  let isReady = false;
  let isStopping = false;
  const ready = (status: string): void => {
    cancelStart();
    if (!isReady) send('READY=1', `STATUS=${status}`);
    isReady = true;
  };
  const beat = (everyMs: number): void => {
    send('WATCHDOG=1');
    cancelBeat = clock.schedule(everyMs, () => beat(everyMs));
  };
  return {
    started(complete) {
      cancelStart = clock.schedule(LONGEST_START_MS, () => ready('Serves; no complete picture of the cluster yet'));
      void complete.then(() => ready('Serves'));
      const everyMs = beatMs(options);
      if (everyMs !== undefined && socket !== '') beat(everyMs);
    },
    reloading: () => {
      if (isStopping) return;
      send('RELOADING=1', `MONOTONIC_USEC=${Math.floor(clock.now() * 1000)}`, 'STATUS=Reloads');
    },
    reloaded: () => {
      if (!isStopping) send('READY=1', 'STATUS=Serves');
    },
    stopping: () => {
      cancelStart();
      isReady = true;
      isStopping = true;
      send('STOPPING=1', 'STATUS=Drains: live sessions end between two transactions');
    },
    end: () => {
      cancelStart();
      cancelBeat();
      isReady = true;
      end();
    },
  };
}

/** Twice in the time after which systemd takes us for dead; undefined where it does not watch. */
function beatMs({ env, pid }: SystemdOptions): number | undefined {
  const { WATCHDOG_USEC: usec = '', WATCHDOG_PID: forPid = String(pid) } = env;
  return /^[1-9]\d*$/.test(usec) && forPid === String(pid) ? Number(usec) / 2000 : undefined;
}

function startShell({ env, sockets, onTrouble }: SystemdOptions): { readonly send: Send; readonly end: () => void } {
  const shell = spawn('/bin/sh', ['-c', SHELL], {
    stdio: ['pipe', 'ignore', 'pipe', ...sockets.map(() => 'ignore' as const)],
    env: { PATH: env['PATH'] ?? '/usr/bin:/bin', NOTIFY_SOCKET: env['NOTIFY_SOCKET'] },
  });
  const { stdin, stderr } = shell;
  let isTold = false;
  const trouble = (why: string): void => {
    if (!isTold) onTrouble(`systemd is not told how we are (with Type=exec it need not be): ${why.trim()}`);
    isTold = true;
  };
  shell.on('error', (error) => trouble(error.message));
  stdin?.on('error', (error) => trouble(error.message));
  stderr?.on('data', (words: Buffer) => trouble(words.toString()));
  return {
    send: (...assignments) => void stdin?.write(`${assignments.join('\t')}\n`),
    end: () => void stdin?.end(),
  };
}
