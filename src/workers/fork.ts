// A worker as a process: forked from a program of ours, with a channel for plain data. Says when it has ended and all it said is read.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FromWorker, ToWorker } from './messages.ts';

/** As it was when this process began: a worker that begins later may find another. */
export const BUILD = readFileSync(createRequire(import.meta.url).resolve('pointsman/package.json'), 'utf8');

/** One process, from its start to its end. */
export interface Channel {
  /** Undefined when it could not be started: its end is told then. */
  readonly pid: number | undefined;
  /** Nothing, when it has ended. */
  send(message: ToWorker): void;
  /** SIGKILL: also what is stopped or stuck ends. */
  kill(): void;
}

export interface ChannelListener {
  readonly onMessage: (message: FromWorker) => void;
  /** Once, after its last message. */
  readonly onEnd: (why: string) => void;
}

export type StartProcess = (listener: ChannelListener) => Channel;

/** Its standard error is ours. `program`: a file that answers `ToWorker` with `FromWorker`. */
export function forker(program: string): StartProcess {
  return ({ onMessage, onEnd }) => {
    // 'advanced': maps, sets, bytes and infinities arrive as they were.
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
      // What cannot be delivered was for one that is ending: that is told.
      send: (message) => void (child.connected && child.send(message, () => {})),
      kill: () => void child.kill('SIGKILL'),
    };
  };
}

/** The other end is this program. */
function isFromWorker(message: unknown): message is FromWorker {
  return typeof message === 'object' && message !== null && 'kind' in message;
}
