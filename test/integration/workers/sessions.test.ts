// The sessions of several worker processes, over the admin port of the main process.
import { afterEach, expect, test } from 'vitest';
import { isOver, stillEchoes } from '../../support/sockets/echo-session.ts';
import { WorkersLab } from '../../support/labs/workers-lab.ts';
import { freeze } from '../../support/processes/freeze.ts';

const TOKEN = '0123456789abcdef-workers';

interface Listed {
  readonly total: number;
  readonly left_out: number;
  readonly silent_workers: readonly number[];
  readonly sessions: readonly { readonly id: number; readonly client: string }[];
}

let lab: WorkersLab;

afterEach(() => lab.stop());

async function ask(path: string, method = 'GET'): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${await lab.pointsman.port('admin')}${path}`;
  const response = await fetch(url, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) });
  return { status: response.status, body: await response.json() };
}

async function listed(query = ''): Promise<Listed> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests of the endpoint hold its shape
  return (await ask(`/sessions${query}`)).body as Listed;
}

test('the list has the sessions of both workers, and one of the second worker is ended by its id', async () => {
  lab = await WorkersLab.start({ admin: { address: '127.0.0.1:0', token: TOKEN } });
  const [ones, twos] = await lab.sessionsOnBoth('write');
  const all = [...ones, ...twos];
  const { total, sessions } = await listed('?pool=write');
  const places = all.map(({ socket }) => `${socket.localAddress}:${socket.localPort}`);
  expect(total).toBe(all.length);
  expect(sessions.map(({ client }) => client).toSorted()).toEqual(places.toSorted());
  expect(await listed('?limit=1')).toMatchObject({ total: all.length, left_out: all.length - 1 });
  const [doomed] = twos;
  const place = `${doomed?.socket.localAddress}:${doomed?.socket.localPort}`;
  const [shown] = (await listed(`?client=${place}`)).sessions;
  expect(Math.floor((shown?.id ?? 0) / 1e11)).toBe(2);
  expect(await ask(`/sessions/${shown?.id}/kill`, 'POST')).toMatchObject({
    status: 200,
    body: { killed: { client: place } },
  });
  await lab.pointsman.waitFor('its end', () => doomed !== undefined && isOver(doomed));
  for (const client of all.filter((one) => one !== doomed)) await stillEchoes(client);
  expect(await ask(`/sessions/${shown?.id}/kill`, 'POST')).toMatchObject({ status: 404 });
  expect(await ask('/sessions/99/kill', 'POST')).toMatchObject({ status: 404 });
});

test('a worker that stands still is named, in a list and when one of its sessions is to be ended', async () => {
  lab = await WorkersLab.start({ admin: { address: '127.0.0.1:0', token: TOKEN } });
  const [ones] = await lab.sessionsOnBoth('write');
  const { sessions } = await listed();
  const [, second = 0] = await lab.pids();
  const ofSecond = sessions.find(({ id }) => Math.floor(id / 1e11) === 2);
  freeze(second);
  const partial = await listed();
  const error = `worker 2 does not answer: session ${ofSecond?.id} ends as soon as it does`;
  expect(await ask(`/sessions/${ofSecond?.id}/kill`, 'POST')).toMatchObject({ status: 503, body: { error } });
  process.kill(second, 'SIGCONT');
  expect(partial).toMatchObject({ total: ones.length, silent_workers: [2] });
  await lab.pointsman.waitFor('its answer', async () => (await listed()).silent_workers.length === 0);
});
