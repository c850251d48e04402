// The benchmark's server, in its own process: accepts every login, answers S to an encryption request (and stays in
// plain text, because the proxy does not read an opaque stream), and answers each query with its reply.
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { listen } from '../../support/sockets/listen.ts';
import { AUTHENTICATION_OK, backendKeyData, readyForQuery } from '../../support/sockets/messages.ts';
import { SSL_REQUEST } from '../../support/sockets/packets.ts';
import { EXCHANGES } from './exchange.ts';

const LENGTH = EXCHANGES[0]?.query.length ?? 0;
let lastProcessId = 0;

function greeting(packet: Buffer): Buffer {
  if (packet.equals(SSL_REQUEST)) return Buffer.from('S');
  lastProcessId += 1;
  return Buffer.concat([AUTHENTICATION_OK, backendKeyData(lastProcessId, Buffer.alloc(4)), readyForQuery('I')]);
}

function serve(socket: Socket): void {
  let isGreeted = false;
  let kept: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true).on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    if (!isGreeted) {
      isGreeted = true;
      socket.write(greeting(chunk));
      return;
    }
    kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    for (; kept.length >= LENGTH; kept = kept.subarray(LENGTH)) {
      const asked = kept.subarray(0, LENGTH);
      const reply = EXCHANGES.find(({ query }) => query.equals(asked))?.reply;
      if (reply === undefined) return void socket.destroy();
      socket.write(reply);
    }
  });
}

process.on('disconnect', () => process.exit());
process.send?.(await listen(createServer(serve)));
