import { createServer, Socket, type Server, type SocketConstructorOpts } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createWorld } from './world.ts';

/** Two ends of one kind of connection, and time for them. */
interface Kind {
  readonly server: Server;
  readonly socket: Socket;
  readonly connect: (socket: Socket) => void;
  readonly settle: () => Promise<void>;
}

const OPTIONS: SocketConstructorOpts & { highWaterMark: number; noDelay: boolean } = {
  allowHalfOpen: true,
  highWaterMark: 1,
  noDelay: true,
};

async function real(): Promise<Kind> {
  const server = createServer(OPTIONS);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const at = server.address();
  const port = typeof at === 'object' && at !== null ? at.port : 0;
  const connect = (socket: Socket): void => void socket.connect(port, '127.0.0.1');
  return { server, socket: new Socket(OPTIONS), connect, settle };
}

/** Loopback takes microseconds, and a turn of the loop looks at the sockets. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 60; turns += 1) await nextTurn();
}

function simulated(): Promise<Kind> {
  const world = createWorld(1);
  const [here, there] = [world.network.host('here', '10.0.0.1'), world.network.host('there', '10.0.0.2')];
  const server = there.createServer(OPTIONS);
  server.listen({ port: 5432 });
  const connect = (socket: Socket): void => void socket.connect(5432, there.address);
  return Promise.resolve({ server, socket: here.createSocket(OPTIONS), connect, settle: () => world.run(500) });
}

type Script = (ends: {
  client: Socket;
  server: Socket;
  settle: () => Promise<void>;
  say: (line: string) => void;
}) => Promise<void> | void;

/** The lines of both ends, one list for each, as their order across hosts is chance. */
async function play(kind: Kind, script: Script): Promise<Record<'client' | 'server', string[]>> {
  const { server, socket: client, connect, settle } = kind;
  const lines = { client: [] as string[], server: [] as string[] };
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  watch(client, lines.client);
  connect(client);
  await settle();
  const other = await accepted;
  watch(other, lines.server);
  await script({ client, server: other, settle, say: (line) => lines.client.push(line) });
  await settle();
  client.destroy();
  other.destroy();
  server.close();
  await settle();
  return lines;
}

function watch(socket: Socket, lines: string[]): void {
  for (const event of ['connect', 'end', 'finish', 'drain'] as const) socket.on(event, () => lines.push(event));
  socket.on('error', (error) => lines.push(`error ${'code' in error ? String(error.code) : error.message}`));
  socket.on('close', (hadError) => lines.push(`close ${String(hadError)}`));
}

/** Letter by letter: where the chunks end is chance. */
function hear(socket: Socket, say: (line: string) => void): void {
  socket.on('data', (bytes: Buffer) => bytes.forEach((byte) => say(String.fromCodePoint(byte))));
}

const SCRIPTS: Record<string, Script> = {
  'each end in its turn: the other half goes on': async ({ client, server, settle, say }) => {
    hear(client, say);
    server.resume();
    client.end('last words');
    await settle();
    say(`${String(client.writable)} ${String(client.readable)} ${String(server.readableEnded)}`);
    server.write('an answer');
    await settle();
    server.end();
  },
  'bytes before a close arrive, and the end follows them': async ({ client, server, settle, say }) => {
    hear(client, say);
    server.write('first');
    server.destroySoon();
    await settle();
    say(String(client.readableEnded));
  },
  'a close with unread bytes resets': async ({ client, server, settle }) => {
    client.resume();
    client.write('never read');
    await settle();
    server.pause();
    server.destroy();
  },
  'a reset of the other end': async ({ client, server, settle, say }) => {
    client.resume();
    server.resetAndDestroy();
    await settle();
    say(`${String(client.destroyed)} ${String(client.remoteAddress)}`);
  },
  'a paused socket does not see the reset, until it writes': async ({ client, server, settle, say }) => {
    client.pause();
    await settle();
    server.resetAndDestroy();
    await settle();
    say(`destroyed ${String(client.destroyed)}`);
    client.write('x');
    await settle();
    say(`destroyed ${String(client.destroyed)}`);
  },
  'bytes before a reset that were received': async ({ client, server, settle, say }) => {
    client.pause();
    server.write('received');
    await settle();
    server.resetAndDestroy();
    await settle();
    hear(client, say);
    client.resume();
  },
  'a write to a closed end is answered with a reset': async ({ client, server, settle, say }) => {
    client.resume();
    server.destroy();
    await settle();
    client.write('one');
    await settle();
    client.write('two');
    await settle();
    say(String(client.destroyed));
  },
  'what was put back comes first': async ({ client, server, settle, say }) => {
    client.once('data', (bytes: Buffer) => {
      client.pause();
      client.unshift(bytes.subarray(2));
      hear(client, say);
      client.resume();
    });
    server.write('abcdef');
    await settle();
    server.end('ghi');
  },
  'one read waits behind a pause, and the rest stays with the kernel': async ({ client, server, settle, say }) => {
    client.resume();
    await settle();
    client.pause();
    for (const word of ['one ', 'two ', 'three ']) {
      server.write(word);
      await settle();
    }
    say(String(client.readableLength));
    const words: string[] = [];
    hear(client, (line) => words.push(line));
    client.resume();
    await settle();
    say(words.join(''));
  },
  'a reset while the end is on its way is refused by libuv': ({ client, server }) => {
    server.resume();
    client.end('x');
    // The resetSocket of src/proxy/socket.ts closes it instead.
    client.destroy();
  },
};

describe('a simulated socket behaves as a real one', () => {
  for (const [title, script] of Object.entries(SCRIPTS)) {
    it(title, async () => {
      const expected = await play(await real(), script);
      expect(await play(await simulated(), script)).toEqual(expected);
    });
  }

  it('a port without a server refuses', async () => {
    const [one, other] = [await real(), await simulated()];
    const codes: unknown[] = [];
    for (const { server, socket, connect, settle } of [one, other]) {
      server.close();
      await settle();
      socket.on('error', (error) => codes.push('code' in error && error.code));
      connect(socket);
      await settle();
    }
    expect(codes).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  });
});
