// The file of a Unix socket. The socket is bound under another name first, so that clients see the file with its mode,
// and the socket of a process that still serves keeps its name until this one is certain to be used.
import { chmodSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { errorCode } from '../../model/errno.ts';
import type { Address } from '../../model/member.ts';
import { socketPath } from '../../model/unix-socket.ts';

export class SocketFile {
  /** Where to bind. */
  readonly temporary: string;
  readonly #path: string;
  readonly #mode: number;
  #inode: number | undefined;

  /** `mode`: of the file, such as 0o770. */
  constructor(address: Address, mode: number) {
    this.#path = socketPath(address);
    this.#mode = mode;
    this.temporary = `${this.#path}.${Math.random().toString(36).slice(2, 8)}`;
  }

  /**
   * Removes the file of a process that is dead. Returns why the name cannot be had; undefined: it can. `mayTakeOver`:
   * from a process that serves.
   */
  async clear(mayTakeOver: boolean): Promise<NodeJS.ErrnoException | undefined> {
    try {
      // A bind reports no such directory as a missing permission.
      statSync(dirname(this.#path));
      const found = statSync(this.#path, { throwIfNoEntry: false });
      if (found === undefined) return undefined;
      if (!found.isSocket()) return failure('ENOTSOCK');
      if (mayTakeOver) return undefined;
      if (await isServed(this.#path)) return failure('EADDRINUSE');
      unlinkSync(this.#path);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** The socket is bound to `temporary`. Returns why it cannot be used. */
  protect(): NodeJS.ErrnoException | undefined {
    try {
      chmodSync(this.temporary, this.#mode);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Clients find the socket from now on. */
  publish(): void {
    this.#inode = statSync(this.temporary).ino;
    renameSync(this.temporary, this.#path);
  }

  /** The name of another process that has taken it over stays. A file that is not published goes with its socket. */
  remove(): void {
    if (this.#inode === undefined) return;
    try {
      if (statSync(this.#path).ino === this.#inode) unlinkSync(this.#path);
    } catch {
      // Somebody has removed it already.
    }
  }
}

/** A process listens there, even if its queue is full. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path)
      .once('connect', () => {
        probe.destroy();
        resolve(true);
      })
      .once('error', (error) => {
        const code = errorCode(error);
        if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve(false);
        else if (code === 'EAGAIN') resolve(true);
        else reject(error);
      });
  });
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
