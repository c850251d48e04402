// The callback script as Patroni runs it: the requests arrive, and on every fault the script is silent and succeeds.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const SCRIPT = new URL('../../../deploy/patroni-callback.sh', import.meta.url).pathname;
const TOKEN = '0123456789abcdef-callback';
const run = promisify(execFile);

let directory: string;
const servers: Server[] = [];
const heard: string[] = [];

beforeEach(async () => {
  heard.length = 0;
  directory = await mkdtemp(join(tmpdir(), 'pointsman-callback-'));
  await writeFile(join(directory, 'token'), `${TOKEN}\n`);
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  await rm(directory, { recursive: true });
});

async function serve(onRequest: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer({}, onRequest);
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  return `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`;
}

function hear({ method, url, headers }: IncomingMessage): void {
  heard.push([method, url, headers.authorization, headers['content-type']].join(' '));
}

/** Runs the script with the arguments that Patroni adds after the configured ones. */
async function callback(urls: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const args = [urls, join(directory, 'token'), 'on_role_change', 'primary', 'batman'];
  const { stdout, stderr } = await run(SCRIPT, args, { env });
  return stdout + stderr;
}

const missing = await run('curl', ['--version']).then(
  () => undefined,
  () => 'curl',
);

describeUnless(missing, 'with curl', () => {
  test('each Pointsman gets a request, with the token', async () => {
    const url = await serve((request, response) => {
      hear(request);
      response.end('{"asked":true}');
    });
    expect(await callback(`${url},${url}`)).toBe('');
    const told = `POST /refresh Bearer ${TOKEN} application/json`;
    expect(heard).toEqual([told, told]);
  });

  test('a Pointsman that does not answer delays neither the other requests nor the end of the script', async () => {
    const mute = await serve(() => {});
    const good = await serve((request, response) => {
      hear(request);
      response.writeHead(403).end('no');
    });
    expect(await callback(`${mute},http://127.0.0.1:1,${good}`)).toBe('');
    expect(heard.length).toBe(1);
  });

  test('without a token file it is silent too', async () => {
    await rm(join(directory, 'token'));
    const url = await serve((request, response) => {
      hear(request);
      response.writeHead(401).end();
    });
    expect(await callback(url)).toBe('');
    expect(heard.length).toBe(1);
  });
});

describe('with a curl that records its arguments', () => {
  test('the token is in no argument, and the call has a time limit', async () => {
    await writeFile(join(directory, 'curl'), `#!/bin/sh\necho "$@" > ${directory}/args\ncat > ${directory}/config\n`);
    await chmod(join(directory, 'curl'), 0o755);
    await callback('http://10.0.0.5:8432', { PATH: `${directory}:${process.env['PATH']}` });
    const [args, config] = await Promise.all(['args', 'config'].map((name) => readFile(join(directory, name), 'utf8')));
    expect(args).toContain('--max-time 2');
    expect(args).toContain('http://10.0.0.5:8432/refresh');
    expect(args).not.toContain(TOKEN);
    expect(config).toBe(`header = "authorization: Bearer ${TOKEN}"\n`);
  });

  test('and without any curl', async () => {
    await expect(callback('http://10.0.0.5:8432', { PATH: directory })).resolves.toBe('');
  });
});
