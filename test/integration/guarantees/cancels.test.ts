// A cancel request reaches the server whose session has its key and no other server, although servers reuse process ids
// and sessions come and go meanwhile.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { AUTHENTICATION_OK, backendKeyData, readyForQuery } from '../../support/sockets/messages.ts';
import { aCancelOf, aStartup } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

const SESSIONS = 24;
/** Fewer ids than sessions, so that both servers hand out the same ids. */
const PROCESS_IDS = 5;

let lab: ProxyLab;
let clock: ManualClock;
let backends: readonly FakeBackend[];

beforeEach(async () => {
  clock = new ManualClock();
  backends = [await startFakeBackend('silent'), await startFakeBackend('silent'), await startFakeBackend('silent')];
  const open = Object.fromEntries(backends.map(({ address }, index) => [`pg-${index + 1}`, address]));
  lab = await startProxyLab({ clock, table: { read: { open } } });
});

afterEach(() => lab.end(...backends));

interface Keyed {
  readonly client: RawClient;
  readonly backend: FakeBackend;
  readonly request: Buffer;
}

async function aSession(index: number): Promise<Keyed> {
  const client = await connectRaw(lab.address('read'));
  const opening = aStartup({ user: `client-${index}`, database: 'shop' });
  client.socket.write(opening);
  const mine = () =>
    backends.flatMap((backend) => {
      const connection = backend.connections.find((candidate) => candidate.received().equals(opening));
      return connection === undefined ? [] : [{ backend, connection }];
    })[0];
  const { backend, connection } = await until('the session', mine);
  const [processId, secret] = [index % PROCESS_IDS, Buffer.from([9, 9, 9, index])];
  const answer = Buffer.concat([AUTHENTICATION_OK, backendKeyData(processId, secret), readyForQuery('I')]);
  connection.socket.write(answer);
  await until('the key', () => client.received().length === answer.length);
  return { client, backend, request: aCancelOf(processId, secret) };
}

function whoHeard(request: Buffer): readonly FakeBackend[] {
  return backends.flatMap((backend) =>
    backend.connections.filter((connection) => connection.received().equals(request)).map(() => backend),
  );
}

/** Resolves when the cancel was passed on, or ended without that. */
async function cancel({ request }: Keyed): Promise<void> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(request);
  await until('what becomes of it', () => whoHeard(request).length > 0 || client.hasEnded || client.isClosed);
  client.socket.destroy();
}

test('G17: a cancel reaches the server of its session and no other; for an ended session none', async () => {
  const sessions: Keyed[] = [];
  for (let index = 0; index < SESSIONS; index += 1) sessions.push(await aSession(index));
  expect(new Set(sessions.map(({ backend }) => backend)).size).toBe(backends.length);
  const ended = sessions.filter((_, index) => index % 4 === 0);
  for (const { client } of ended) client.socket.resetAndDestroy();
  await until('their ends', () => lab.reasons().length === ended.length);

  for (const session of sessions) await cancel(session);
  for (const session of sessions) {
    const expected = ended.includes(session) ? [] : [session.backend];
    expect(whoHeard(session.request)).toEqual(expected);
  }
});
