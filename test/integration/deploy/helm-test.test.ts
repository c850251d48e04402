// The program in the pod of `helm test`, run by this machine's Node against servers with different answers.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { CHART } from '../../support/deploy/render-chart.ts';

const program = await readFile(join(CHART, 'files/test-connection.js'), 'utf8');
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Calls `answer` once the request has arrived. */
async function serving(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      if (data.equals(SSL_REQUEST)) answer(socket);
      else socket.destroy();
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' ? `127.0.0.1:${address?.port}` : '';
}

/** Runs the program as the pod does. */
function run(seconds: number, ...addresses: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['-e', program, '--', String(seconds), ...addresses], (error, output) =>
      resolve({ code: error === null ? 0 : Number(error.code), output }),
    );
  });
}

test('both Services answer: the pod succeeds', async () => {
  const [one, two] = [await serving((socket) => socket.write('S')), await serving((socket) => socket.write('N'))];
  const { code, output } = await run(10, one, two);
  expect(code).toBe(0);
  expect(output.split('\n').toSorted()).toEqual([
    '',
    ...[`${one}: PostgreSQL answers, with TLS`, `${two}: PostgreSQL answers, without TLS`].toSorted(),
  ]);
});

test.each([
  [
    'an error of Pointsman',
    (socket: Socket) => socket.write('E\0\0\0\x20SFATAL\0C57P03\0\0'),
    /not the answer of.*57P03/,
  ],
  ['a close', (socket: Socket) => socket.end(), /closed without an answer/],
  ['silence', () => undefined, /no answer in 1 s/],
])('%s: the pod fails, and reports the reason', async (_, answer, reason) => {
  const well = await serving((socket) => socket.write('N'));
  const { code, output } = await run(1, well, await serving(answer));
  expect(code).toBe(1);
  expect(output).toMatch(reason);
  expect(output).toContain(`${well}: PostgreSQL answers`);
});

test('no listener: the pod fails, and reports the reason', async () => {
  const { code, output } = await run(10, '127.0.0.1:1');
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('ECONNREFUSED') });
});
