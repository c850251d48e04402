// A TCP proxy between a browser and Pointsman, which can cut, refuse or silence what goes through it.
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { close, listen } from './listen.ts';

/** `silent`: connections stay open, and no byte passes. `cut`: they end, and each new one as well. */
type Mode = 'passing' | 'silent' | 'cut';

export interface ProxyOnTheWay {
  readonly port: number;
  readonly set: (mode: Mode) => void;
  /** For new connections. */
  readonly leadTo: (port: number) => void;
  readonly stop: () => Promise<void>;
}

export async function startProxyOnTheWay(upstreamPort: number): Promise<ProxyOnTheWay> {
  const sockets = new Set<Socket>();
  let mode: Mode = 'passing';
  let target = upstreamPort;
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (chunk: Buffer) => mode === 'passing' && to.write(chunk));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    if (mode === 'cut') {
      client.destroy();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: target });
    pass(client, upstream);
    pass(upstream, client);
  });
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: await listen(server),
    set(next) {
      mode = next;
      if (mode === 'cut') cut();
    },
    leadTo: (next) => {
      target = next;
    },
    stop() {
      cut();
      return close(server);
    },
  };
}
