// A member whose host can vanish without a word: its packets are lost, as by a broken cable. Loopback has no cable. A
// stopped process whose accept queues are full is as near as a test comes without rights over the network.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { NamedServer } from './named-server.ts';

export interface BlackHole extends NamedServer {
  /** From now on nothing answers: no connect, no byte, no end. */
  swallow(): Promise<void>;
  stop(): Promise<void>;
}

const addresses = z.object({ api: z.number(), postgres: z.number() });
/** A connect on loopback that the kernel has not accepted after so long is not going to be. Milliseconds. */
const UNANSWERED_AFTER_MS = 200;

/** A primary called pg-1, or a replica of another name. */
export async function startBlackHole(replica?: string): Promise<BlackHole> {
  const main = new URL('black-hole-main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...(replica === undefined ? [] : [replica])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const ports = addresses.parse(JSON.parse(String(line)));
  const fillers: Socket[] = [];

  async function isAccepted(port: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), UNANSWERED_AFTER_MS);
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
    socket.once('connect', () => resolve(true));
    fillers.push(socket);
    return promise.finally(() => clearTimeout(timer));
  }
  return {
    api: { name: replica ?? 'pg-1', url: `http://127.0.0.1:${ports.api}` },
    postgres: { address: { host: '127.0.0.1', port: ports.postgres } },
    async swallow() {
      child.kill('SIGSTOP');
      for (const port of [ports.api, ports.postgres]) while (await isAccepted(port));
    },
    async stop() {
      for (const filler of fillers) filler.destroy();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
