// One probe against a real socket, for good answers and for every fault of a socket (scenario 45). After each, the
// member has seen one connection for one request and holds none.
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseCheck } from '../../../src/model/check.ts';
import type { Check } from '../../../src/model/check.ts';
import type { Member } from '../../../src/model/member.ts';
import type { ProbeOutcome } from '../../../src/model/observation.ts';
import { createProbe } from '../../../src/patroni/probe.ts';
import { startBlackHole } from '../../support/fakes/black-hole.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import type { FakeMemberKnobs } from '../../support/fakes/fake-member.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { until } from '../../support/waiting/until.ts';

const probe = createProbe();
const members: FakeMember[] = [];

afterEach(async () => {
  await Promise.all(members.splice(0).map((member) => member.stop()));
});

async function start(knobs: Partial<FakeMemberKnobs> = {}): Promise<FakeMember> {
  const member = await FakeMember.start('pg-1', knobs);
  members.push(member);
  return member;
}

function check(text: string): Check {
  const parsed = parseCheck(text);
  if (parsed.kind !== 'check') throw new Error(parsed.message);
  return parsed.check;
}

/** Probes once, and checks that the probe made exactly one connection and closed it. */
async function ask(member: FakeMember, text = '/primary', deadlineMs = 2000): Promise<ProbeOutcome> {
  const before = member.connections;
  const outcome = await probe(member.member(), check(text), deadlineMs);
  // A member in this process may accept it only now.
  await until('the connection and its end', () => member.connections > before && member.open === 0);
  expect(member.connections - before).toBe(1);
  return outcome;
}

describe('an answer', () => {
  test('of a primary: 200 with its status', async () => {
    const member = await start({ role: 'primary', timeline: 4, location: 100, tags: { zone: 'a' } });
    expect(await ask(member)).toEqual({
      kind: 'answered',
      status: 200,
      body: expect.objectContaining({
        role: 'primary',
        state: 'running',
        timeline: 4,
        location: 100,
        scope: 'demo',
        name: 'pg-1',
      }),
    });
  });

  test('of a replica: 503 with its status, and 200 to its own check', async () => {
    const member = await start({ tags: { zone: 'a' }, lagBytes: 10 });
    expect(await ask(member)).toMatchObject({ kind: 'answered', status: 503, body: { role: 'replica' } });
    expect(await ask(member, '/replica?lag=16MB&tag_zone=a')).toMatchObject({ kind: 'answered', status: 200 });
    expect(await ask(member, '/replica?lag=9')).toMatchObject({ kind: 'answered', status: 503 });
    expect(member.requests).toEqual(['GET /primary', 'GET /replica?lag=16MB&tag_zone=a', 'GET /replica?lag=9']);
  });

  test('without headers and body is complete for /liveness and /readiness, and for no other path', async () => {
    const member = await start();
    expect(await ask(member, '/liveness')).toEqual({ kind: 'answered', status: 200, body: undefined });
    member.set({ state: 'starting' });
    expect(await ask(member, '/readiness')).toEqual({ kind: 'answered', status: 503, body: undefined });
    member.set({ misbehave: 'no-headers' });
    expect(await ask(member, '/replica')).toMatchObject({ kind: 'failed', cause: 'malformed' });
  });

  test('of the manager dialect, on an open HTTP/1.1 connection, is read and the connection closed', async () => {
    const member = await start({ role: 'primary', dialect: 'manager', misbehave: 'keep-open' });
    expect(await ask(member)).toMatchObject({
      kind: 'answered',
      status: 200,
      body: { dialect: 'manager', role: 'primary' },
    });
  });

  test('the request is right: the name as Host, no credentials, no keep-alive', async () => {
    const member = await start({ role: 'primary' });
    const named = {
      ...member.member(),
      api: { url: `http://pg-a.test:${member.address.port}`, address: member.address },
    };
    await probe(named, check('/primary'), 2000);
    const [head = ''] = member.heads;
    expect(head).toMatch(/^GET \/primary HTTP\/1\.1\r\n/);
    expect(head.toLowerCase()).toContain(`host: pg-a.test:${member.address.port}`);
    expect(head.toLowerCase()).toContain('connection: close');
    expect(head.toLowerCase()).not.toContain('authorization');
  });

  test('ten probes are ten connections, one after another', async () => {
    const member = await start();
    for (let n = 0; n < 10; n++) await ask(member, '/replica');
    expect(member.connections).toBe(10);
    expect(member.mostOpen).toBe(1);
  });
});

const PRIMARY = 'HTTP/1.0 200 OK\r\n\r\n{"role":"primary","state":"running"}';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** The body after the padding, in chunks of one byte. */
function inChunks(padding: string): string {
  return `${CHUNKED}${`${padding}{"role":"primary"}`.replaceAll(/./g, '1\r\n$&\r\n')}0\r\n\r\n`;
}

describe('an unusual answer that still counts', () => {
  test.each<[string, string]>([
    ['1000 chunks of one byte', inChunks(' '.repeat(1000))],
    ['two early hints before it', `${HINTS}${HINTS}${PRIMARY}`],
    ['60 headers', PRIMARY.replace('\r\n\r\n', `\r\n${'X-A: b\r\n'.repeat(60)}\r\n`)],
    ['200 kB of it', PRIMARY.replace('{', `{"padding":"${'x'.repeat(200_000)}",`)],
  ])('%s', async (_, raw) => {
    const member = await start({ raw });
    expect(await ask(member)).toMatchObject({ kind: 'answered', status: 200, body: { role: 'primary' } });
  });
});

describe('no evidence', () => {
  const html = '<html><body>It works!</body></html>';
  test.each<[string, Partial<FakeMemberKnobs>, string]>([
    ['HTML', { raw: `HTTP/1.0 200 OK\r\n\r\n${html}` }, 'malformed'],
    ['an empty body', { raw: 'HTTP/1.0 200 OK\r\n\r\n' }, 'malformed'],
    ['a JSON array', { raw: 'HTTP/1.0 200 OK\r\n\r\n[]' }, 'malformed'],
    ['truncated JSON', { misbehave: 'truncated-json' }, 'malformed'],
    ['gzip without a request for it', { raw: gzipAnswer() }, 'malformed'],
    ['noise', { raw: '\u0016\u0003\u0001 noise' }, 'malformed'],
    ['another protocol', { raw: 'SSH-2.0-OpenSSH_9.2\r\n' }, 'malformed'],
    ['endless interim answers', { raw: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000) }, 'malformed'],
    ['an upgrade', { raw: 'HTTP/1.1 101 Upgraded\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n' }, 'malformed'],
    ['10 MB', { raw: `HTTP/1.0 200 OK\r\n\r\n{"a":"${'x'.repeat(10_000_000)}"}` }, 'oversized'],
    ['1 MB of headers', { raw: `HTTP/1.0 200 OK\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n{}` }, 'oversized'],
    ['5000 chunks of one byte', { raw: inChunks(' '.repeat(5000)) }, 'oversized'],
    ['a chunk size that never ends', { raw: `${CHUNKED}2;${'x'.repeat(3_000_000)}` }, 'oversized'],
    ['early hints without end', { raw: `${HINTS.repeat(20)}${PRIMARY}` }, 'malformed'],
    ['5000 headers', { raw: `HTTP/1.0 200 OK\r\n${'a:\r\n'.repeat(5000)}\r\n{"role":"primary"}` }, 'oversized'],
    ['a body shorter than announced', { misbehave: 'truncated' }, 'reset'],
    ['a connection closed at once', { misbehave: 'close' }, 'reset'],
    ['a reset', { misbehave: 'reset' }, 'reset'],
    [
      'a redirect',
      { raw: 'HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n{"role":"primary"}' },
      'redirect',
    ],
    ['401', { raw: 'HTTP/1.0 401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n{}' }, 'unexpected_status'],
    ['404', { raw: 'HTTP/1.0 404 Not Found\r\n\r\n{}' }, 'unexpected_status'],
    ['204', { raw: 'HTTP/1.0 204 No Content\r\n\r\n' }, 'unexpected_status'],
    ['500', { raw: 'HTTP/1.0 500 Oops\r\n\r\n{}' }, 'unexpected_status'],
  ])('%s', async (_, knobs, cause) => {
    const member = await start({ role: 'primary', ...knobs });
    // On a machine with other work this process stands still at times, which is a fault on this side.
    let outcome = await ask(member);
    for (let left = 4; left > 0 && outcome.kind === 'failed' && outcome.cause === 'local'; left -= 1)
      outcome = await ask(member);
    expect(outcome).toMatchObject({ kind: 'failed', cause, detail: expect.any(String) });
  });

  test('100,000 headers, or as many behind the body, take hardly any time', async () => {
    const headers = 'a:\r\n'.repeat(100_000);
    for (const raw of [`HTTP/1.0 200 OK\r\n${headers}\r\n{}`, `${CHUNKED}2\r\n{}\r\n0\r\n${headers}\r\n`]) {
      const member = await start({ raw });
      const [causes, times]: [unknown[], number[]] = [[], []];
      // On a machine with other work this process stands still at times, which is a fault on this side.
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const before = process.cpuUsage();
        const outcome = await ask(member);
        times.push(process.cpuUsage(before).user);
        causes.push(outcome.kind === 'failed' && outcome.cause);
      }
      expect(causes).toContain('oversized');
      expect(new Set(causes).difference(new Set(['oversized', 'local']))).toEqual(new Set());
      expect(Math.min(...times)).toBeLessThan(150_000);
    }
  });

  test.each(['hang', 'drip'] as const)('%s: the deadline ends the probe and closes its socket', async (misbehave) => {
    const member = await start({ misbehave });
    const startedAt = performance.now();
    expect(await ask(member, '/primary', 150)).toMatchObject({ kind: 'failed', cause: 'timeout', postgres: 'unknown' });
    expect(performance.now() - startedAt).toBeLessThan(600);
  });

  test('keys of Object in the body have no effect', async () => {
    const member = await start({ raw: 'HTTP/1.0 503 X\r\n\r\n{"__proto__":{"role":"primary"},"role":"replica"}' });
    expect(await ask(member)).toEqual({ kind: 'answered', status: 503, body: { role: 'replica' } });
  });

  test('an unchecked address is not contacted', async () => {
    const member = await start();
    const api = { url: member.url, address: { host: 'localhost', port: member.address.port } };
    expect(await probe({ ...member.member(), api }, check('/primary'), 1000)).toMatchObject({ cause: 'local' });
    expect(member.connections).toBe(0);
  });

  test('G12: an event loop that stood still is a local fault, not a fault of the member', async () => {
    const member = await start({ misbehave: 'hang' });
    const asked = ask(member, '/primary', 100);
    const until = performance.now() + 500;
    while (performance.now() < until);
    expect(await asked).toMatchObject({
      kind: 'failed',
      cause: 'local',
      detail: expect.stringContaining('stood still'),
    });
  });
});

describe('the PostgreSQL port, probed when the API is silent', () => {
  test('API refused, PostgreSQL accepts, then refuses too', async () => {
    const member = await start();
    await member.stop();
    const postgres = createServer();
    const port = await listen(postgres);
    const asked = member.member({ host: '127.0.0.1', port });
    expect(await probe(asked, check('/primary'), 500)).toEqual({ kind: 'refused', postgres: 'accepts' });
    await close(postgres);
    expect(await probe(asked, check('/primary'), 500)).toEqual({ kind: 'refused', postgres: 'refused' });
    expect(await probe(member.member(), check('/primary'), 500)).toEqual({ kind: 'refused', postgres: 'unknown' });
  });

  test('API frozen, PostgreSQL refuses: reported within the deadline and 300 ms', async () => {
    const member = await start({ misbehave: 'hang' });
    const gone = await start();
    await gone.stop();
    const startedAt = performance.now();
    const outcome = await probe(member.member(gone.address), check('/primary'), 100);
    expect(outcome).toMatchObject({ kind: 'failed', cause: 'timeout', postgres: 'refused' });
    expect(performance.now() - startedAt).toBeLessThan(700);
  });

  test('is not probed when the API has answered, for any answer', async () => {
    const member = await start();
    const postgres = await start();
    for (const raw of ['HTTP/1.0 404 Not Found\r\n\r\n', 'HTTP/1.0 200 OK\r\n\r\n<html>', 'SSH-2.0-OpenSSH_9.2\r\n']) {
      member.set({ raw });
      expect(await probe(member.member(postgres.address), check('/primary'), 500)).toMatchObject({
        postgres: 'unknown',
      });
    }
    expect(postgres.connections).toBe(0);
  });

  test('neither port accepts a connect: both are reported silent in less than the deadline', async () => {
    const hole = await startBlackHole();
    try {
      await hole.swallow();
      const { api, postgres } = hole;
      const { hostname: host, port } = new URL(api.url);
      const asked: Member = {
        name: 'pg-1',
        api: { url: api.url, address: { host, port: Number(port) } },
        postgres: postgres.address,
        origin: 'configured',
      };
      const startedAt = performance.now();
      expect(await probe(asked, check('/primary'), 4000)).toMatchObject({ cause: 'timeout', postgres: 'silent' });
      expect(performance.now() - startedAt).toBeLessThan(4000);
    } finally {
      await hole.stop();
    }
  });

  test('is closed without a byte', async () => {
    const member = await start({ misbehave: 'close' });
    const postgres = await start();
    expect(await probe(member.member(postgres.address), check('/primary'), 500)).toMatchObject({ postgres: 'accepts' });
    await until('the connection and its end', () => postgres.connections > 0 && postgres.open === 0);
    expect(postgres.heads).toEqual([]);
  });
});

test('a proxy from the environment is not used', async () => {
  const member = await start({ role: 'primary' });
  vi.stubEnv('http_proxy', 'http://127.0.0.1:1')
    .stubEnv('HTTP_PROXY', 'http://127.0.0.1:1')
    .stubEnv('ALL_PROXY', 'http://127.0.0.1:1');
  try {
    expect(await ask(member)).toMatchObject({ kind: 'answered', status: 200 });
  } finally {
    vi.unstubAllEnvs();
  }
});

function gzipAnswer(): Buffer {
  return Buffer.concat([
    Buffer.from('HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n'),
    gzipSync('{"role":"primary"}'),
  ]);
}

function at(member: FakeMember, host: string, ...others: string[]): Member {
  const { api, ...rest } = member.member();
  return { ...rest, api: { ...api, address: { ...api.address, host, others } } };
}

describe('a name with several addresses', () => {
  const refusing = '127.0.0.9';

  test.each([
    ['one that refuses comes first', [refusing, '127.0.0.1']],
    ['one that refuses comes last', ['127.0.0.1', refusing]],
    ['two refuse', [refusing, '127.0.0.10', '127.0.0.1']],
  ])('%s: the member answers', async (_, [host = '', ...others]) => {
    const member = await start({ role: 'primary' });
    expect(await probe(at(member, host, ...others), check('/primary'), 2000)).toMatchObject({ status: 200 });
  });

  test('a server is refusing only when all its addresses are', async () => {
    const member = await start();
    const asked = at(member, refusing, '127.0.0.10');
    const { port } = asked.api.address;
    const postgres = { host: refusing, port, others: ['127.0.0.1'] };
    const outcome = await probe({ ...asked, postgres }, check('/primary'), 2000);
    expect(outcome).toEqual({ kind: 'refused', postgres: 'accepts' });
    const down = await probe({ ...asked, postgres: asked.api.address }, check('/primary'), 2000);
    expect(down).toEqual({ kind: 'refused', postgres: 'refused' });
  });

  test('a silent one leaves the next one its time, and is not called refusing', async () => {
    const hole = await startBlackHole();
    try {
      await hole.swallow();
      const { hostname: host, port } = new URL(hole.api.url);
      const address = { host, port: Number(port), others: ['127.0.0.2'] };
      const asked: Member = {
        name: 'pg-1',
        api: { url: hole.api.url, address },
        postgres: undefined,
        origin: 'configured',
      };
      expect(await probe(asked, check('/primary'), 1000)).toMatchObject({ kind: 'failed', cause: 'timeout' });
      const server = createServer((socket) => {
        const body = '{"role":"primary","state":"running"}';
        socket.once('data', () => socket.end(`HTTP/1.0 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`));
      });
      await listen(server, { host: '127.0.0.2', port: Number(port) });
      onTestFinished(() => close(server));
      expect(await probe(asked, check('/primary'), 2000)).toMatchObject({ status: 200, body: { role: 'primary' } });
    } finally {
      await hole.stop();
    }
  });
});
