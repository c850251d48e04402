// `pointsman top` and `pointsman status --watch` against an admin server on a real socket: without a terminal, on a
// terminal that a test plays, and on a real one.
import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import { EXIT } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/program.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { keepPort } from '../../support/sockets/kept-port.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';
import { MAIN } from '../../support/processes/program.ts';

/** vitest alone would wait for one second. */
const PATIENCE = { timeout: 15_000 };

const ENTERED = '\u001B[?1049h\u001B[?25l';
const LEFT = '\u001B[?25h\u001B[?1049l';
const POLICY = aPolicy();
const SNAPSHOT = aSnapshot(POLICY, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0));

let admin: ReturnType<typeof createAdmin>;
let address = '';

async function serve(port = 0): Promise<void> {
  const status = buildStatus({
    ...STATUS_BASICS,
    version: '0',
    startedAt: 0,
    now: 300,
    readiness: { ready: true },
    pools: POLICY.pools,
    table: decideRoutes(POLICY, SNAPSHOT, 300),
    snapshot: SNAPSHOT,
    counts: new Map(),
  });
  admin = createAdmin(adminOptions({ address: { host: '127.0.0.1', port }, status: () => status }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
}

const portOf = (text: string): number => Number(text.split(':')[1]);

beforeEach(() => serve());
afterEach(() => admin.close());

const ignoredKey: (key: string) => void = () => {};
const ignoredCode: (code: number) => void = () => {};

function start(argv: readonly string[], hasTerminal: boolean, command = 'top') {
  const listeners = { key: ignoredKey, interrupt: ignoredCode, removed: 0 };
  const seen = { out: '', err: '' };
  const remove = (): void => void (listeners.removed += 1);
  const io = {
    env: {},
    stdout: (text: string) => void (seen.out += text),
    stderr: (text: string) => void (seen.err += text),
    onInterrupt: (listener: (code: number) => void) => {
      listeners.interrupt = listener;
      return remove;
    },
    ...(hasTerminal && {
      screen: { size: () => ({ columns: 80, rows: 24 }) },
      onKey: (listener: (key: string) => void) => {
        listeners.key = listener;
        return remove;
      },
    }),
  };
  return { seen, listeners, code: runCli([command, ...argv, '--admin', address], io, cliParts()) };
}

describe('without a terminal', () => {
  test('so many screens as --count, one after another, with rates', async () => {
    const { seen, code } = start(['--count', '2', '--interval', '100ms'], false);
    expect(await code).toBe(0);
    expect(seen.out.match(/^cluster lab/gm)).toHaveLength(2);
    expect(seen.out).toMatch(/\n\ncluster lab/);
    expect(seen.out).not.toContain('\u001B');
    expect(seen.err).toBe('');
  });

  test('Ctrl-C ends it', async () => {
    const { seen, listeners, code } = start(['--interval', '100ms'], false);
    await vi.waitFor(() => expect(seen.out).toContain('cluster lab'), PATIENCE);
    listeners.interrupt(EXIT.interrupted);
    expect([await code, listeners.removed]).toEqual([130, 1]);
  });

  test('status --watch is the same', async () => {
    const { seen, listeners, code } = start(['--watch', '100ms'], false, 'status');
    await vi.waitFor(() => expect(seen.out).toMatch(/^cluster lab[^]*NEW\/s[^]*\n\ncluster lab/), PATIENCE);
    listeners.interrupt(EXIT.interrupted);
    expect(await code).toBe(130);
  });

  test.each([
    [['--watch', '10ms'], '--watch: the shortest is 100ms'],
    [['--watch', '--json'], "option '--watch [interval]' cannot be used with option '--json'"],
  ])('status %j: exit code 2', async (argv, message) => {
    const { seen, code } = start(argv, false, 'status');
    expect([await code, seen.err]).toEqual([2, expect.stringContaining(message)]);
  });

  test('no answer at the start: exit code 1', async () => {
    await admin.close();
    const { seen, code } = start([], false);
    expect(await code).toBe(1);
    expect(seen.err).toContain(`no answer from ${address}`);
  });

  test.each([
    ['--interval', '1', '--interval: 1 has no unit'],
    ['--interval', '10ms', '--interval: the shortest is 100ms'],
    ['--count', '0', '--count: 0 is not a number from 1'],
  ])('%s %s: exit code 2', async (option, value, message) => {
    const { seen, code } = start([option, value], false);
    expect([await code, seen.err]).toEqual([2, expect.stringContaining(message)]);
  });
});

test('the reader of the output goes away: exit code 0 without a word', async () => {
  const args = [MAIN, 'top', '--interval', '100ms', '--admin', address];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()));
  child.stdout.once('data', () => child.stdout.destroy());
  const code = await new Promise((resolve) => void child.once('close', resolve));
  expect([code, err]).toEqual([0, '']);
});

describe('on a terminal', () => {
  test.each([
    ['q', 0],
    ['\u0003', 130],
  ])('%j ends it, and the terminal is as before', async (key, exit) => {
    const { seen, listeners, code } = start(['--interval', '100ms'], true);
    await vi.waitFor(() => expect(seen.out.match(/cluster lab/g)?.length).toBeGreaterThan(2), PATIENCE);
    listeners.key(key);
    expect([await code, listeners.removed]).toEqual([exit, 2]);
    expect(seen.out.startsWith(ENTERED)).toBe(true);
    expect(seen.out.endsWith(LEFT)).toBe(true);
    expect(seen.out.split(LEFT)).toHaveLength(2);
  });

  test('while Pointsman does not answer it says so below the old picture, and goes on when it is back', async () => {
    const { seen, listeners, code } = start(['--interval', '100ms'], true);
    await vi.waitFor(() => expect(seen.out).toContain('q: quit'), PATIENCE);
    await Promise.all([admin.close(), keepPort(portOf(address))]);
    await vi.waitFor(() => expect(seen.out).toContain(`old: no answer from ${address}`), PATIENCE);
    seen.out = '';
    await serve(portOf(address));
    await vi.waitFor(() => expect(seen.out).toContain('q: quit'), PATIENCE);
    listeners.key('q');
    expect(await code).toBe(0);
  });

  test.each([
    ['q', 'q', 0],
    ['Ctrl-C', '\u0003', 130],
  ])('%s on a real terminal: it gets the screen and the keys, and gives them back', async (_, key, exit) => {
    const top = `${process.execPath} ${MAIN} top --interval 100ms --admin ${address}`;
    const command = `stty cols 80 rows 24; ${top}; echo code $?; stty -a`;
    const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
    const ended = new Promise((resolve) => void child.once('close', resolve));
    await vi.waitFor(() => expect(out).toContain('q: quit'), PATIENCE);
    child.stdin.write(key);
    await ended;
    const [, screen = '', after = ''] = out.replace(LEFT, ENTERED).split(ENTERED);
    expect(screen).toContain('cluster lab');
    expect(after).toContain(`code ${exit}`);
    expect(after).toMatch(/[^-]icanon/);
    expect(after).toMatch(/[^-]echo\b/);
  });
});
