// Bad input at the command line: a clear error with its position, a non-zero exit code, and no bound listener.
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { listen } from '../../support/sockets/listen.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { checkConfig, startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { OTHER, SERVER } from '../../support/values/tls-files.ts';

let pointsman: PointsmanProcess;

afterEach(() => pointsman.stop());

const SEEDS = 'cluster: { seeds: [http://127.0.0.1:1] }';
const FREE = 'listeners: [{ address: "127.0.0.1:0", pool: write }]\nadmin: { address: "127.0.0.1:0" }';

async function ends(config: string): Promise<{ code: number | string; said: string; hasListened: boolean }> {
  pointsman = await startPointsman(config);
  const code = await pointsman.exited();
  const hasListened = pointsman.lines.some((line) => line['event'] === 'listening');
  return { code, said: pointsman.stderr.join(''), hasListened };
}

test.each([
  ['an unknown key', `${SEEDS}\nprobe: { intervall: 1s }\n`, [/pointsman\.yaml:2/, /probe\.intervall/, /interval\b/]],
  ['a bad duration', `${SEEDS}\nprobe: { interval: 5 }\n`, [/:2/, /probe\.interval/, /5s/]],
  [
    'a tag on /primary',
    `${SEEDS}\npools: { write: { check: /primary?tag_zone=a } }\n`,
    [/pools\.write\.check/, /tag_zone/],
  ],
  [
    'a lag with a wrong unit',
    `${SEEDS}\npools: { read: { check: /replica?lag=10mb } }\n`,
    [/pools\.read\.check/, /10mb/, /MB/],
  ],
  [
    'a certificate that is not there',
    `${SEEDS}\nclient: { tls: { mode: terminate, cert: /nowhere/tls.crt, key: /nowhere/tls.key } }\n`,
    [/pointsman\.yaml:2/, /client\.tls\.cert: \/nowhere\/tls\.crt cannot be read: there is no such file/],
  ],
  [
    "another pair's key",
    `${SEEDS}\nclient: { tls: { mode: require, cert: ${SERVER.cert}, key: ${OTHER.key} } }\n`,
    [/pointsman\.yaml:2/, /client\.tls\.key: .*other\.key is not the key of cert/],
  ],
  ['no seeds', 'probe: { interval: 1s }\n', [/seeds/]],
  ['a file that is not YAML', 'cluster: [\n', [/pointsman\.yaml:/]],
])('%s', async (_, config, expected) => {
  const { code, said, hasListened } = await ends(config);
  expect(code, said).toBe(2);
  for (const pattern of expected) expect(said).toMatch(pattern);
  expect(hasListened).toBe(false);
});

test('scenario 39: a port in use: the error names the address, and bound listeners are closed', async () => {
  const taken = createServer();
  const port = await listen(taken);
  const second = `{ address: "127.0.0.1:${port}", pool: write }`;
  const listeners = `listeners: [{ address: "127.0.0.1:0", pool: read }, ${second}]`;
  const { code, said, hasListened } = await ends(`${SEEDS}\n${listeners}\nadmin: { address: "127.0.0.1:0" }\n`);
  taken.close();
  expect(code).toBe(1);
  expect(said).toContain(`127.0.0.1:${port} is in use`);
  expect(hasListened).toBe(false);
});

test('the error also names an admin port in use', async () => {
  const taken = createServer();
  const port = await listen(taken);
  const { code, said } = await ends(
    `${SEEDS}\n${FREE.replace('admin: { address: "127.0.0.1:0" }', '')}\nadmin: { address: "127.0.0.1:${port}" }\n`,
  );
  taken.close();
  expect(code).toBe(1);
  expect(said).toContain(`127.0.0.1:${port} is already in use`);
});

test('unreachable seeds: check --live names each with the reason, and fails', async () => {
  pointsman = await checkConfig(`cluster: { seeds: [http://127.0.0.1:1, http://127.0.0.1:2] }\n`, '--live');
  expect(await pointsman.exited()).toBe(1);
  expect(pointsman.stderr.join('')).toContain(
    'http://127.0.0.1:1: connection refused\nhttp://127.0.0.1:2: connection refused\n',
  );
});

test('scenario 2: silent seeds: the process runs, is not ready and names them', async () => {
  pointsman = await startPointsman(`${SEEDS}\n${FREE}\n`);
  await pointsman.port('write');
  await pointsman.waitFor('the reason', () =>
    pointsman.lines.some((line) => String(line['msg']).includes('http://127.0.0.1:1: connection refused')),
  );
  expect((await pointsman.admin('/readyz')).status).toBe(503);
  expect((await pointsman.admin('/livez')).status).toBe(200);
});

test('scenario 2: new clients wait for the length of a hold, and read the reason', async () => {
  pointsman = await startPointsman(`${SEEDS}\n${FREE}\nhold: { client_timeout: 300ms }\n`);
  const client = await connectRaw({ host: '127.0.0.1', port: await pointsman.port('write') });
  client.socket.write(aStartup());
  const told = await pointsman.waitFor('the answer', () => errorFields(client.received()));
  expect(told).toMatchObject({
    S: 'FATAL',
    C: '57P03',
    M: expect.stringMatching(/no primary available .* after waiting/),
  });
  expect((await pointsman.admin('/readyz')).status).toBe(503);
  client.socket.destroy();
});
