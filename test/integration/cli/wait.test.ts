// `pointsman wait`: its exit code and its reasons, against an admin server on a real socket.
import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { close, listen } from '../../support/sockets/listen.ts';

const OPEN = { kind: 'open', members: [{ name: 'pg-1' }], fallback: null };
const HOLD = { kind: 'hold', cause: 'no_member' };

function aStatus(write: object, why: string): object {
  const pool = { check: '/c', sessions: null };
  return {
    uptime_seconds: 1,
    cluster: { scope: 'lab', timeline: 1, drained: [], scheduled_switchover: null },
    members: [],
    pools: [
      { ...pool, name: 'write', route: write, why },
      { ...pool, name: 'read', route: OPEN, why: 'open on pg-2' },
    ],
  };
}

const SERVING = aStatus(OPEN, 'open on pg-1');
const HOLDING = aStatus(HOLD, 'no eligible member, clients wait');

let answers: object[] = [];
const server = createServer((_, response) => {
  const [next] = answers;
  if (answers.length > 1) answers.shift();
  response.end(JSON.stringify(next));
});
afterEach(async () => {
  if (server.listening) await close(server);
});

async function wait(argv: readonly string[], given: { readonly address?: string; readonly answers?: object[] } = {}) {
  let [out, err] = ['', ''];
  answers = given.answers ?? [SERVING];
  const address = given.address ?? `127.0.0.1:${await listen(server)}`;
  const io = { env: {}, stdout: (text: string) => void (out += text), stderr: (text: string) => void (err += text) };
  const code = await runCli(['wait', ...argv, '--admin', address], io, cliParts());
  return { code, out, err, address };
}

describe('wait', () => {
  test('every pool is open: exit code 0 at once', async () => {
    const { code, out, err } = await wait([]);
    expect([code, out, err]).toEqual([0, 'pool write: open on pg-1\npool read: open on pg-2\n', '']);
  });

  test('the pool opens later: the reason once, then exit code 0', async () => {
    const { code, out, err } = await wait(['--pool', 'write'], { answers: [HOLDING, HOLDING, SERVING] });
    expect([code, out]).toEqual([0, 'pool write: open on pg-1\n']);
    expect(err).toBe('waiting: pool write: no eligible member, clients wait\n');
  });

  test('only the given pools count', async () => {
    expect(await wait(['--pool', 'read'], { answers: [HOLDING] })).toMatchObject({ code: 0 });
    await close(server);
    expect(await wait(['--pool', 'read', '--pool', 'write', '--timeout', '0'], { answers: [HOLDING] })).toMatchObject({
      code: 1,
      err: 'pointsman: gave up after 0 ms: pool write: no eligible member, clients wait\n',
    });
  });

  test('Pointsman starts later', async () => {
    const port = await listen(server);
    await close(server);
    let started: Promise<unknown> | undefined;
    answers = [SERVING];
    const io = {
      env: {},
      stdout: () => {},
      stderr: (text: string) => {
        expect(text).toContain(`waiting: no answer from 127.0.0.1:${port} (connection refused)`);
        started = listen(server, { port });
      },
    };
    expect(await runCli(['wait', '--admin', `127.0.0.1:${port}`], io, cliParts())).toBe(0);
    expect(started).toBeDefined();
  });

  test('--quiet: no output, the same exit codes', async () => {
    expect(await wait(['--quiet'])).toMatchObject({ code: 0, out: '', err: '' });
    await close(server);
    const late = await wait(['--quiet', '--timeout', '0'], { answers: [HOLDING] });
    expect(late).toMatchObject({ code: 1, out: '', err: '' });
  });

  test('another program at the address: the reason', async () => {
    const { code, err, address } = await wait(['--timeout', '0'], { answers: [{ status: 'up' }] });
    expect([code, err]).toEqual([1, `pointsman: gave up after 0 ms: ${address} does not answer as Pointsman\n`]);
  });

  test.each([
    [['--pool', 'wriet'], 'pointsman: unknown pool wriet: did you mean write? The pools are write, read\n'],
    [['--timeout', '60'], 'pointsman: --timeout: 60 has no unit: write 60s or 60ms\n'],
  ])('%j: exit code 2', async (argv, message) => {
    expect(await wait(argv)).toMatchObject({ code: 2, out: '', err: message });
  });
});
