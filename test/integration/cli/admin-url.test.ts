// --admin, as an address or as a URL, and a TLS proxy in front of the admin address.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { SERVER, tlsFile } from '../../support/values/tls-files.ts';
import { MAIN } from '../../support/processes/program.ts';

const answer: RequestListener = (request, response) => {
  response.end(JSON.stringify({ status: request.url, changed: [], needs_restart: [], warnings: [] }));
};
const plain = createHttp(answer);
const tls = createHttps({ cert: readFileSync(SERVER.cert), key: readFileSync(SERVER.key) }, answer);
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
let [plainPort, tlsPort] = [0, 0];
beforeAll(async () => {
  [plainPort, tlsPort] = [await listen(plain), await listen(tls)];
});
afterAll(() => Promise.all([close(plain), close(tls)]));

async function reload(admin: string | undefined, env: Readonly<Record<string, string>> = {}) {
  let [out, err] = ['', ''];
  const io = {
    env: { POINTSMAN_ADMIN_TOKEN: '0123456789abcdef-operator', ...env },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    readFile: () => {
      throw Object.assign(new Error('gone'), { code: 'ENOENT' });
    },
  };
  const code = await runCli(['reload', ...(admin === undefined ? [] : ['--admin', admin])], io, cliParts());
  return { code, out, err };
}

describe('--admin', () => {
  test.each([
    ['an address', () => `127.0.0.1:${plainPort}`],
    ['a URL', () => `http://127.0.0.1:${plainPort}`],
    ['a URL with a slash at its end', () => `http://127.0.0.1:${plainPort}/`],
    ['a URL in capitals', () => `HTTP://localhost:${plainPort}`],
  ])('%s, without any file', async (_, admin) => {
    expect(await reload(admin())).toEqual({ code: 0, out: 'no changes\n', err: '' });
  });

  test.runIf(hasIpv6)('an IPv6 address with its zone, which no URL can have', async () => {
    const server = createHttp(answer);
    const port = await listen(server, { host: '::1' });
    onTestFinished(() => void server.close());
    expect(await reload(`[::1%lo]:${port}`)).toEqual({ code: 0, out: 'no changes\n', err: '' });
  });

  test('an https URL of a port without TLS: the remedy, in one line', async () => {
    const { code, err } = await reload(`https://127.0.0.1:${plainPort}/`);
    expect(code).toBe(1);
    expect(err).toMatch(/^pointsman: no answer from .* \(it does not speak TLS: write http:\/\/\)\..*\n$/);
  });

  test('an https URL speaks TLS and verifies the certificate', async () => {
    const { code, err } = await reload(`https://127.0.0.1:${tlsPort}/`);
    expect(code).toBe(1);
    expect(err).toMatch(/^pointsman: no answer from 127\.0\.0\.1:\d+ \(TLS failed: unable to .*certificate/);
  });

  test.each([[['reload']], [['healthcheck']]])('%j trusts the certificates of NODE_EXTRA_CA_CERTS', async (argv) => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: tlsFile('ca.pem'), POINTSMAN_ADMIN_TOKEN: 'x'.repeat(16) };
    const run = promisify(execFile)(process.execPath, [MAIN, ...argv, '--admin', `https://127.0.0.1:${tlsPort}`], {
      env,
    });
    expect((await run).stderr).toBe('');
  });

  test.each([
    ['https://pointsman.example.com/admin', '"https://pointsman.example.com/admin" has a path: write only https://po'],
    ['http://127.0.0.1:8432?x=1', '"127.0.0.1:8432?x=1" is not an address: write host:port'],
    ['http://127.0.0.1', '127.0.0.1 has no port: write 127.0.0.1:PORT'],
    ['http://me:secret@127.0.0.1:8432', 'the URL carries a user or password: the admin token is POINTSMAN_ADMIN_TOKEN'],
    ['ftp://127.0.0.1:21', 'is not an address'],
  ])('%s: what is wrong, exit code 2', async (admin, message) => {
    const { code, err } = await reload(admin);
    expect(err).toContain(`--admin: ${message.startsWith('is') ? '"ftp://127.0.0.1:21" ' : ''}${message}`);
    expect(err).not.toContain('secret');
    expect(code).toBe(2);
  });
});

test('POINTSMAN_ADMIN_ADDRESS replaces a file that is not there', async () => {
  const env = { POINTSMAN_CONFIG: 'gone.yaml', POINTSMAN_ADMIN_ADDRESS: `127.0.0.1:${plainPort}` };
  const { code, out, err } = await reload(undefined, env);
  expect([code, out]).toEqual([0, 'no changes\n']);
  expect(err).toContain(`continuing with 127.0.0.1:${plainPort}`);
});
