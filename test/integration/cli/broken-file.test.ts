// The file on disk is broken in the middle of an edit, while a Pointsman runs. The commands still reach it: they need
// only its address and its token.
import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { close, listen } from '../../support/sockets/listen.ts';

const TOKEN = '0123456789abcdef-operator';
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ member: 'pg-2', drained: false, was_drained: true, pools: {} }));
});
let address = '';
beforeEach(async () => {
  asked.length = 0;
  address = `127.0.0.1:${await listen(server)}`;
});
afterEach(() => close(server));

async function resume(text: string | undefined, argv: readonly string[] = [], env = {}) {
  let [out, err] = ['', ''];
  const io = {
    env,
    stdout: (part: string) => void (out += part),
    stderr: (part: string) => void (err += part),
    readFile: () => {
      if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      return text;
    },
  };
  const code = await runCli(['resume', 'pg-2', '-c', 'p.yaml', ...argv], io, cliParts());
  return { code, out, err };
}

const SAID = 'pg-2 resumed\n';
const ADMIN = (): string => `admin: { address: "${address}", token: ${TOKEN} }`;

test.each([
  [
    'a wrong value',
    () => `${ADMIN()}\nprobe: { interval: 1 }\n`,
    /^pointsman: the configuration has 2 problems \(p\.yaml/,
  ],
  [
    'invalid YAML after it',
    () => `${ADMIN()}\ncluster:\n\tseeds: [http://pg1:8008\n`,
    /^pointsman: the configuration has \d problems? \(/,
  ],
  ['invalid YAML before it', () => `cluster:\n  seeds: [http://pg1:8008\n${ADMIN()}\n`, /not valid YAML/],
  ['a key twice', () => `probe: {}\nprobe: {}\n${ADMIN()}\n`, /not valid YAML/],
])('%s: the request goes to the address in the file, and one line reports the fault', async (_, text, fault) => {
  const { code, out, err } = await resume(text());
  expect(err).toMatch(fault);
  expect(err.split('\n')).toEqual([expect.stringContaining(`; continuing with ${address}`), '']);
  expect([code, out, asked]).toEqual([0, SAID, [`POST /members/pg-2/resume Bearer ${TOKEN}`]]);
});

test('--admin overrides the address in a broken file, and needs no file', async () => {
  const env = { POINTSMAN_ADMIN_TOKEN: TOKEN };
  for (const text of ['admin: { address: nonsense }', '{{{', undefined]) {
    const { code, err } = await resume(text, ['--admin', address], env);
    expect([code, err]).toEqual([0, expect.stringContaining(`; continuing with ${address}`)]);
  }
  expect(asked).toHaveLength(3);
});

test.each([
  ['an invalid address', 'admin: { address: nonsense }'],
  ['no readable address', 'cluster:\n  seeds: [http://pg1:8008\n'],
  ['no file', undefined],
])('%s: no request to a guessed address', async (_, text) => {
  const { code, err } = await resume(text, [], { POINTSMAN_ADMIN_TOKEN: TOKEN });
  expect(err).toMatch(/So the address of Pointsman is not known: use --admin HOST:PORT, or -c with another file\.\n$/);
  expect([code, asked]).toEqual([2, []]);
});
