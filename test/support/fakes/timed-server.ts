// A server that lets every client in and answers each query when the test lets it.
import { createServer, type Socket } from 'node:net';
import type { Address } from '../../../src/model/member.ts';
import { close, listen } from '../sockets/listen.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, backendKeyData, readyForQuery } from '../sockets/messages.ts';

const QUERY = 0x51;
export const ANSWER = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);

export interface TimedServer {
  readonly address: Address;
  /** It answers when this resolves. */
  wait: () => Promise<unknown>;
  /** The clients that it has let in since the start. */
  logins: number;
  /** Its connections now. */
  open(): number;
  stop(): Promise<void>;
}

/** The first bytes of a client are its whole startup packet, and each later chunk is one message. */
export async function startTimedServer(wait: () => Promise<unknown> = async () => {}): Promise<TimedServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    let isIn = false;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      if (!isIn) {
        isIn = true;
        timed.logins += 1;
        socket.write(Buffer.concat([AUTHENTICATION_OK, backendKeyData(1, Buffer.alloc(4)), readyForQuery('I')]));
      } else if (chunk[0] === QUERY) {
        void timed.wait().then(() => socket.writable && socket.write(ANSWER));
      }
    });
  });
  const timed: TimedServer = {
    address: { host: '127.0.0.1', port: await listen(server) },
    wait,
    logins: 0,
    open: () => sockets.size,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await close(server);
    },
  };
  return timed;
}
