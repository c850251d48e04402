// Reports our state to systemd: ready, reloading, stopping, alive
// (https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html). Node cannot send datagrams to a path, so
// the program systemd-notify does. One small shell runs it for the whole life of the process: forking a process of our
// size for each message would block the event loop for milliseconds. Never waits, never fails the caller.
import { spawn } from 'node:child_process';
import type { Clock } from '../model/instant.ts';
import { nothing } from '../model/once.ts';
import type { PassedSocket } from './sockets.ts';

export interface SystemdOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly clock: Clock;
  /** Not passed on to the shell. */
  readonly sockets: readonly PassedSocket[];
  readonly onTrouble: (why: string) => void;
}

export interface Systemd {
  /**
   * Reports ready at the first complete round of probes, or after 10 s: an outage of the cluster is not a failed start.
   */
  readonly started: (complete: Promise<void>) => void;
  readonly reloading: () => void;
  readonly reloaded: () => void;
  readonly stopping: () => void;
  /** No more messages. */
  readonly end: () => void;
}

type SendState = (...assignments: readonly string[]) => void;

/** The longest time that `systemctl start` waits for the first round of probes. */
const LONGEST_START_MS = 10_000;
/** One message per line, its assignments separated by tabs. Ignores signals, so that it can report our end. */
const SHELL = `
trap '' HUP INT TERM
command -v systemd-notify >/dev/null || { echo 'the program systemd-notify is missing' >&2; exit 127; }
set -f
tab=$(printf '\\t')
while IFS= read -r line; do IFS=$tab; systemd-notify $line; IFS=; done
`;

const SILENCE = { send: nothing, end: nothing };

/** Does nothing if NOTIFY_SOCKET is unset. */
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
      cancelStart = clock.schedule(LONGEST_START_MS, () => ready('Serving; the first round of probes is not complete'));
      void complete.then(() => ready('Serving'));
      const everyMs = beatMs(options);
      if (everyMs !== undefined && socket !== '') beat(everyMs);
    },
    reloading: () => {
      if (isStopping) return;
      send('RELOADING=1', `MONOTONIC_USEC=${Math.floor(clock.now() * 1000)}`, 'STATUS=Reloading');
    },
    reloaded: () => {
      if (!isStopping) send('READY=1', 'STATUS=Serving');
    },
    stopping: () => {
      cancelStart();
      isReady = true;
      isStopping = true;
      send('STOPPING=1', 'STATUS=Draining: sessions close between transactions');
    },
    end: () => {
      cancelStart();
      cancelBeat();
      isReady = true;
      end();
    },
  };
}

/** Half of the watchdog timeout of systemd; undefined if it has none. */
function beatMs({ env, pid }: SystemdOptions): number | undefined {
  const { WATCHDOG_USEC: usec = '', WATCHDOG_PID: forPid = String(pid) } = env;
  return /^[1-9]\d*$/.test(usec) && forPid === String(pid) ? Number(usec) / 2000 : undefined;
}

function startShell({ env, sockets, onTrouble }: SystemdOptions): {
  readonly send: SendState;
  readonly end: () => void;
} {
  const shell = spawn('/bin/sh', ['-c', SHELL], {
    stdio: ['pipe', 'ignore', 'pipe', ...sockets.map(() => 'ignore' as const)],
    env: { PATH: env['PATH'] ?? '/usr/bin:/bin', NOTIFY_SOCKET: env['NOTIFY_SOCKET'] },
  });
  const { stdin, stderr } = shell;
  let hasWarned = false;
  const trouble = (why: string): void => {
    if (!hasWarned) onTrouble(`systemd notification failed (not needed with Type=exec): ${why.trim()}`);
    hasWarned = true;
  };
  shell.on('error', (error) => trouble(error.message));
  stdin?.on('error', (error) => trouble(error.message));
  stderr?.on('data', (words: Buffer) => trouble(words.toString()));
  return {
    send: (...assignments) => void stdin?.write(`${assignments.join('\t')}\n`),
    end: () => void stdin?.end(),
  };
}
