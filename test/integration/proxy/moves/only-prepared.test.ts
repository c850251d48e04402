// A client that has prepared a statement, and is asked about its state before it runs the statement.
import { expect, onTestFinished, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { aMessage, BIND, EXECUTE, FLUSH, readyForQuery, SYNC } from '../../../support/sockets/messages.ts';
import { errorFields } from '../../../support/sockets/packets.ts';
import { aParse } from '../../../support/sockets/wire-client.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const READY = readyForQuery('I');
const RUN = { timeline: 1, startedAt: 'monday' };

test('it still has the time to run its statement when Pointsman ends', async () => {
  const clock = new ManualClock();
  const backend = await startFakeBackend('movable');
  const lab = await startProxyLab({
    clock,
    moves: { mode: 'always' },
    wal: () => ({ samples: new Map([['pg-1', [{ at: clock.now(), run: RUN, bytes: 500 }]]]), ends: undefined }),
    table: { write: { open: { 'pg-1': backend.address } } },
  });
  onTestFinished(() => lab.end(backend));
  const client = await lab.connect('write');
  onTestFinished(() => void client.socket.destroy());
  await until('the login', () => client.received().includes(READY));
  const greeted = client.received().length;
  const said = (): Buffer => client.received().subarray(greeted);
  client.socket.write(Buffer.concat([aParse('one', 'select 1'), FLUSH]));
  await until('the answer', () => said().equals(aMessage('1')));
  await clock.advance(500);
  const asked = await until('the question', () => lab.events.find(({ kind }) => kind === 'session_asked'));
  expect(asked).toMatchObject({ result: 'movable' });
  const drained = lab.proxy.drain(10_000);
  await clock.advance(400);
  client.socket.write(Buffer.concat([BIND, EXECUTE, SYNC]));
  await until('the last byte', () => client.hasEnded);
  const words = said().subarray(said().indexOf(READY) + READY.length);
  expect(said().includes(READY)).toBe(true);
  expect(errorFields(words)).toMatchObject({ C: '57P01' });
  client.socket.end();
  await drained;
});
