// A wire tap: passes TCP connections on to one address, and records the bytes of each side as lengths and digests. Two
// taps, before and behind the proxy, show whether it altered a byte.
import { createHash } from 'node:crypto';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import type { Address } from '../../../src/model/member.ts';
import { listen } from './listen.ts';

export interface Tap {
  readonly address: Address;
  /** One line for each ended connection with bytes, sorted: the client's bytes, the server's bytes. */
  transcripts(): readonly string[];
  /** Connections that are open. */
  open(): number;
  stop(): void;
}

interface Heard {
  readonly hash: ReturnType<typeof createHash>;
  bytes: number;
}

export async function startTap(to: Address): Promise<Tap> {
  const sockets = new Set<Socket>();
  const transcripts: string[] = [];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ ...to, allowHalfOpen: true, noDelay: true });
    const [asked, answered] = [pass(client, upstream), pass(upstream, client)];
    let pending = 2;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {
        client.destroy();
        upstream.destroy();
      });
      socket.on('close', () => {
        sockets.delete(socket);
        pending -= 1;
        if (pending === 0 && asked.bytes > 0) transcripts.push(`${text(asked)} ${text(answered)}`);
      });
    }
  });
  const port = await listen(server);
  return {
    address: { host: '127.0.0.1', port },
    transcripts: () => transcripts.toSorted(),
    open: () => sockets.size / 2,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function pass(from: Socket, to: Socket): Heard {
  const heard: Heard = { hash: createHash('sha256'), bytes: 0 };
  from.on('data', (chunk: Buffer) => {
    heard.hash.update(chunk);
    heard.bytes += chunk.length;
  });
  from.pipe(to);
  return heard;
}

function text({ hash, bytes }: Heard): string {
  return `${bytes}:${hash.digest('hex').slice(0, 16)}`;
}
