// Forks a worker process with a channel for plain data. Reports its end once, after its last message.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FromWorker, ToWorker } from './messages.ts';

/** The manifest as this process loaded it. A worker that starts after an upgrade of the files finds another one. */
export const BUILD = readFileSync(createRequire(import.meta.url).resolve('pointsman/package.json'), 'utf8');

/** One worker process, from its start to its end. */
export interface Channel {
  /** Undefined when the process could not start; `onEnd` reports that. */
  readonly pid: number | undefined;
  /** Does nothing when the process has ended. */
  send(message: ToWorker): void;
  /** Sends SIGKILL, which also ends a stopped or stuck process. */
  kill(): void;
}

export interface ChannelListener {
  readonly onMessage: (message: FromWorker) => void;
  /** Once, after its last message. */
  readonly onEnd: (why: string) => void;
}

export type StartProcess = (listener: ChannelListener) => Channel;

/** The worker shares this process's standard error. `program`: the file of the worker program. */
export function forker(program: string): StartProcess {
  return ({ onMessage, onEnd }) => {
    // 'advanced' keeps maps, sets, bytes and infinities.
    const child = fork(program, [], { serialization: 'advanced', stdio: ['inherit', 'ignore', 'inherit', 'ipc'] });
    let why: string | undefined;
    let isDrained = false;
    const end = (): void => {
      if (why === undefined || !isDrained) return;
      isDrained = false;
      onEnd(why);
    };
    child.on('message', (message: unknown) => {
      if (isFromWorker(message)) onMessage(message);
    });
    child.on('disconnect', () => {
      isDrained = true;
      end();
    });
    child.on('exit', (code, signal) => {
      why ??= signal === null ? `exited with code ${code}` : `killed by ${signal}`;
      end();
    });
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      why ??= `could not be started: ${error.message}`;
      isDrained = true;
      end();
    });
    return {
      pid: child.pid,
      // A message to a process that is ending is lost; `onEnd` reports that end.
      send: (message) => void (child.connected && child.send(message, () => {})),
      kill: () => void child.kill('SIGKILL'),
    };
  };
}

/** The sender is the same build of this program, so the kind alone is checked. */
function isFromWorker(message: unknown): message is FromWorker {
  return typeof message === 'object' && message !== null && 'kind' in message;
}
