// The replacement of a worker that died: with the state of the other workers, and a limited number of times.
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { connectTls } from '../../support/sockets/tls-client.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { WorkersLab } from '../../support/labs/workers-lab.ts';

let lab: WorkersLab;
let folder: string | undefined;

afterEach(async () => {
  await lab.stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
  folder = undefined;
});

test('one worker that dies again and again: not ready, with the reason; the other serves on', async () => {
  lab = await WorkersLab.start();
  for (let death = 1; death <= 5; death += 1) {
    const pid = await lab.pointsman.waitFor('a worker in the first place', async () => {
      const [first] = (await lab.status()).workers;
      return first?.ready === true && first.pid !== null && first.pid;
    });
    process.kill(pid, 'SIGKILL');
    await lab.pointsman.waitFor('its end', () => lab.said('worker_ended').length === death);
  }
  const { status, text } = await lab.pointsman.admin('/readyz');
  expect(status).toBe(503);
  expect(text).toContain('worker 1 keeps dying: killed by SIGKILL');
  expect(lab.said('worker_ended').map(({ replaced_in_ms: replacedInMs }) => replacedInMs)).toEqual([
    100, 200, 400, 800, 1600,
  ]);
  expect((await lab.status()).workers[1]?.ready).toBe(true);
});

test('TLS of the proxy: one report; a worker that starts while the files are unusable has the old pair', async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-workers-tls-'));
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  await copyFile(SERVER.cert, files.cert);
  await copyFile(SERVER.key, files.key);
  lab = await WorkersLab.start({ client: { tls: { mode: 'require', ...files } } });
  expect(lab.said('certificate_loaded')).toHaveLength(1);
  await writeFile(files.cert, 'nothing of use');
  const pids = await lab.pids();
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await lab.pointsman.waitFor('the next two', async () => (await lab.pids()).length === 2);
  const clients = await lab.onBoth('write', async (at) => (await connectTls(at)).carrier);
  for (const { socket } of clients.flat()) socket.destroy();
  await lab.pointsman.waitFor('the complaint', () => lab.said('certificate_refused').length === 1);
});
