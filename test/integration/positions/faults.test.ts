// Connections for positions at a server that is played by hand, with a clock that the test moves.
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { AskedServer, Positions, QuestionsPolicy } from '../../../src/model/causal-reads.ts';
import { openPositions } from '../../../src/positions/positions.ts';
import { dialTcp } from '../../../src/proxy/connect/dial.ts';
import { nodeSocket } from '../../../src/proxy/plain/plain-socket.ts';
import { LOGIN_TOOLS } from '../../../src/proxy/login/own-logins.ts';
import type { PositionEvent } from '../../../src/reports/position-events.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import {
  AUTHENTICATION_OK,
  aMessage,
  aNumber,
  parameterStatus,
  readyForQuery,
} from '../../support/sockets/messages.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';
import { until } from '../../support/waiting/until.ts';

const LOGIN = Buffer.concat([AUTHENTICATION_OK, parameterStatus('server_version', '18.4'), readyForQuery('I')]);
const NUDGE = 'pointsman_nudge';

function answer(value: string): Buffer {
  const text = Buffer.from(value);
  const row = aMessage('D', Buffer.concat([Buffer.from([0, 1]), aNumber(text.length), text]));
  return Buffer.concat([row, readyForQuery('I')]);
}

/** Answers the login and the preparation; the questions when it is told to. */
class PlayedServer {
  readonly connections: Socket[] = [];
  readonly questions: string[] = [];
  isAnswering = true;
  isWelcoming = true;
  readonly #server: Server = createServer((socket) => this.#serve(socket));

  async start(): Promise<AskedServer> {
    const port = await listen(this.#server);
    return { member: 'pg-1', address: { host: '127.0.0.1', port } };
  }

  async stop(): Promise<void> {
    for (const socket of this.connections) socket.destroy();
    await close(this.#server);
  }

  answerLast(): void {
    this.connections.at(-1)?.write(answer('standby 0/10'));
  }

  #serve(socket: Socket): void {
    this.connections.push(socket);
    let messages = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      messages += 1;
      if (chunk[0] === 0x58) return;
      if (messages === 1) {
        if (this.isWelcoming) socket.write(LOGIN);
      } else if (messages === 2) socket.write(answer('7301 8192 16777216'));
      else {
        this.questions.push(chunk.includes(NUDGE) ? 'nudge' : 'position');
        if (this.isAnswering) socket.write(answer('standby 0/10'));
      }
    });
  }
}

const servers: PlayedServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function lab() {
  const played = new PlayedServer();
  servers.push(played);
  const server = await played.start();
  const clock = new ManualClock();
  const events: PositionEvent[] = [];
  let policy: QuestionsPolicy | undefined = { user: 'm', passwordFile: undefined, database: 'postgres', perSecond: 1 };
  const positions: Positions & { end(): void } = openPositions({
    clock,
    policy: () => policy,
    connect:
      ({ address }) =>
      async () => {
        const { promise, resolve, reject } = Promise.withResolvers<Socket>();
        dialTcp(address, { clock: systemClock, timeoutMs: 5_000 }, (result) =>
          result.kind === 'connected' ? resolve(nodeSocket(result.socket)) : reject(new Error(result.detail)),
        );
        return promise;
      },
    systemIdentifier: () => undefined,
    tools: LOGIN_TOOLS,
    endPointOf: () => undefined,
    onEvent: (event) => events.push(event),
    apart: (run) => run(),
  });
  onTestFinished(() => positions.end());
  return {
    played,
    server,
    clock,
    events,
    positions,
    setPolicy: (next: QuestionsPolicy | undefined) => (policy = next),
  };
}

test('those who ask while a question is under way share the next one', async () => {
  const { played, server, positions } = await lab();
  await positions.askReplica(server);
  played.isAnswering = false;
  const under = positions.askReplica(server);
  await until('the question', () => played.questions.length === 2);
  const next = [positions.askReplica(server), positions.askReplica(server)];
  positions.nudge(server);
  played.answerLast();
  await until('the nudge goes first', () => played.questions.at(-1) === 'nudge');
  played.answerLast();
  await until('one question for both', () => played.questions.length === 4);
  played.answerLast();
  expect(await under).toMatchObject({ question: 2, replayed: 16 });
  for (const word of next) expect(await word).toMatchObject({ question: 4 });
  expect(positions.lastReplica(server)).toMatchObject({ question: 4 });
  expect(positions.newestQuestion()).toBe(4);
});

test('a server that falls silent is given up after 2 s, and asked anew after pauses of up to 1 s', async () => {
  const { played, server, clock, events, positions } = await lab();
  await positions.askReplica(server);
  played.isAnswering = false;
  const silent = positions.askReplica(server);
  await until('the question', () => played.questions.length === 2);
  await clock.advance(2_000);
  expect(await silent).toEqual({ why: 'no answer within 2 s' });
  expect(positions.lastReplica(server)).toBeUndefined();
  played.isWelcoming = false;
  for (const [attempt, pauseMs] of [100, 200, 400, 800, 1_000, 1_000].entries()) {
    const waiting = positions.askReplica(server);
    await clock.advance(pauseMs - 1);
    expect(played.connections).toHaveLength(attempt + 1);
    await clock.advance(1);
    await until('the next attempt', () => played.connections.length === attempt + 2);
    await clock.advance(10_000);
    expect(await waiting).toEqual({ why: 'no login within 10 s' });
  }
  played.isWelcoming = true;
  played.isAnswering = true;
  const again = positions.askReplica(server);
  await clock.advance(1_000);
  expect(await again).toMatchObject({ replayed: 16 });
  expect(events.filter(({ kind }) => kind === 'positions_failed')).toHaveLength(7);
});

test('a connection that nobody uses ends after a minute, and the next question opens another', async () => {
  const { played, server, clock, events, positions } = await lab();
  await positions.askReplica(server);
  await clock.advance(59_000);
  await positions.askReplica(server);
  await clock.advance(59_000);
  // A read that relies on the last word uses the connection.
  expect(positions.lastReplica(server)).toBeDefined();
  await clock.advance(59_000);
  expect(events.at(-1)).not.toMatchObject({ kind: 'positions_unused' });
  await clock.advance(1_000);
  expect(positions.lastReplica(server)).toBeUndefined();
  expect(events.at(-1)).toEqual({ kind: 'positions_unused', member: 'pg-1' });
  await until('the end', () => played.connections[0]?.destroyed === true || played.connections[0]?.readableEnded);
  expect(await positions.askReplica(server)).toMatchObject({ question: 3 });
  expect(played.connections).toHaveLength(2);
});

test('another address, another login and the end of the section end a connection', async () => {
  const { played, server, positions, setPolicy } = await lab();
  await positions.askReplica(server);
  const other = new PlayedServer();
  servers.push(other);
  const moved = await other.start();
  expect(positions.lastReplica(moved)).toBeUndefined();
  expect(await positions.askReplica(moved)).toMatchObject({ address: moved.address });
  await until('the end of the first', () => played.connections[0]?.readableEnded);
  setPolicy({ user: 'other', passwordFile: undefined, database: 'postgres', perSecond: 1 });
  expect(positions.lastReplica(moved)).toBeUndefined();
  await positions.askReplica(moved);
  expect(other.connections).toHaveLength(2);
  setPolicy(undefined);
  expect(await positions.askReplica(moved)).toEqual({ why: '`questions` is not configured' });
});
