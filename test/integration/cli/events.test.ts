// `pointsman events` against the admin server's own list and stream, on a real socket.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RecentEvents } from '../../../src/admin/recent-events.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { EXIT } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/program.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { keepPort } from '../../support/sockets/kept-port.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';

/** vitest alone would wait for one second. */
const PATIENCE = { timeout: 15_000 };

const NOON = new Date(2026, 10, 22, 12, 0, 5).getTime();
let ids: EventIds;
const newEvents = (run: string): RecentEvents => {
  ids = new EventIds(run);
  return new RecentEvents({ ids, wallClock: () => NOON });
};
const add = (recent: RecentEvents, text: string, level: 'info' | 'warn' | 'error' = 'info', fields = {}): void =>
  recent.add({ level, fields: { event: 'route_changed', ...fields }, text, number: ids.next() });

let recent: RecentEvents;
let admin: ReturnType<typeof createAdmin>;
let port = 0;

async function serve(at = 0): Promise<void> {
  const eventNames = ['members_changed', 'route_changed'];
  admin = createAdmin(adminOptions({ address: { host: '127.0.0.1', port: at }, events: recent, eventNames }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  port = listening.address.port;
}

beforeEach(async () => {
  recent = newEvents('r1');
  await serve();
});
afterEach(() => admin.close());

const ignored: (code: number) => void = () => {};

function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const seen = { out: '', err: '', interrupt: ignored };
  const io = {
    env,
    stdout: (text: string) => void (seen.out += text),
    stderr: (text: string) => void (seen.err += text),
    onInterrupt: (listener: (code: number) => void) => {
      seen.interrupt = listener;
      return () => {};
    },
  };
  return { seen, code: runCli(['events', ...argv, '--admin', `127.0.0.1:${port}`], io, cliParts()) };
}

async function list(argv: readonly string[] = [], env = {}) {
  const { seen, code } = start(argv, env);
  return { code: await code, out: seen.out, err: seen.err };
}

describe('the list', () => {
  beforeEach(() => {
    add(recent, 'pool write: open on pg-1', 'info', { pool: 'write' });
    add(recent, 'pool read: pg-2: no new sessions: no answer for 5 s from it, and a long reason', 'warn', {
      pool: 'read',
      member: 'pg-2',
    });
  });

  test('time, level and message, within 80 columns', async () => {
    expect(await list()).toEqual({
      code: 0,
      err: '',
      out: `11-22 12:00:05Z  info   pool write: open on pg-1
11-22 12:00:05Z  warn   pool read: pg-2: no new sessions: no answer for 5 s from
                        it, and a long reason
`,
    });
  });

  test('the level has a colour on a terminal', async () => {
    expect((await list([], { FORCE_COLOR: '1' })).out).toContain('\u001B[33mwarn \u001B[39m');
  });

  test.each([
    [['--pool', 'write'], ['pool write']],
    [['--member', 'pg-2'], ['pool read']],
    [['--level', 'warn'], ['pool read']],
    [['--limit', '1'], ['pool read']],
    [['--event', 'members_changed'], []],
  ])('%j', async (argv, expected) => {
    const { code, out, err } = await list(argv);
    expect([...out.matchAll(/pool \w+/g)].map(String)).toEqual(expected);
    expect([code, err]).toEqual([0, expected.length === 0 ? 'no such events\n' : '']);
  });

  test('--json is the document of /events', async () => {
    const { out } = await list(['--json', '--pool', 'write']);
    expect(JSON.parse(out)).toMatchObject({ api_version: 1, last_id: 'r1-2', events: [{ id: 'r1-1', level: 'info' }] });
  });

  test.each([[['--event', 'foo']], [['--event', 'foo', '--follow']], [['--event', 'foo', '--json']]])(
    'a name that no event has: exit code 2 and the right ones: %j',
    async (argv) => {
      const err = 'pointsman: unknown event foo: the events are members_changed, route_changed\n';
      expect(await list(argv)).toEqual({ code: 2, out: '', err });
    },
  );

  test('a wrong limit: exit code 2', async () => {
    expect(await list(['--limit', 'ten'])).toMatchObject({ code: 2, out: '' });
    expect(await list(['--limit', '9999'])).toMatchObject({ code: 2, err: expect.stringContaining('limit') });
  });
});

const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.slice('11-22 12:00:05Z'.length));

describe('--follow', () => {
  test('the recent events, then the new ones, until Ctrl-C', async () => {
    add(recent, 'old');
    const { seen, code } = start(['--follow']);
    await vi.waitFor(() => expect(seen.out).toContain('old'), PATIENCE);
    await vi.waitFor(() => {
      add(recent, 'new', 'error');
      expect(seen.out).toContain('error  new');
    }, PATIENCE);
    seen.interrupt(EXIT.interrupted);
    expect(await code).toBe(130);
    expect(lines(seen.out)[0]).toBe('  info   old');
    expect(seen.err).toBe('');
  });

  test('Ctrl-C at the first line ends it, too', async () => {
    add(recent, 'old');
    const listeners: ((code: number) => void)[] = [];
    const io = {
      env: {},
      stdout: () => {
        expect(listeners).toHaveLength(1);
        listeners.forEach((listener) => listener(EXIT.interrupted));
      },
      stderr: () => {},
      onInterrupt: (listener: (code: number) => void) => {
        listeners.push(listener);
        return () => void listeners.splice(0);
      },
    };
    expect(await runCli(['events', '--follow', '--admin', `127.0.0.1:${port}`], io, cliParts())).toBe(130);
    expect(listeners).toEqual([]);
  });

  test('--json: one document a line', async () => {
    add(recent, 'old');
    const { seen, code } = start(['--follow', '--json']);
    await vi.waitFor(() => {
      add(recent, 'new');
      expect(seen.out.split('\n').length).toBeGreaterThan(2);
    }, PATIENCE);
    seen.interrupt(EXIT.interrupted);
    await code;
    const documents = seen.out.trim().split('\n');
    expect(documents.slice(0, 2).map((line) => JSON.parse(line).message)).toEqual(['old', 'new']);
  });

  test('after a break it continues behind the last event, and says so', async () => {
    add(recent, 'first');
    const { seen, code } = start(['--follow']);
    await vi.waitFor(() => expect(seen.out).toContain('first'), PATIENCE);
    await Promise.all([admin.close(), keepPort(port)]);
    add(recent, 'in between');
    await vi.waitFor(() => expect(seen.err).toMatch(/is lost \(.+\), trying again\n$/), PATIENCE);
    await serve(port);
    await vi.waitFor(() => expect(seen.out).toContain('in between'), PATIENCE);
    expect(seen.err).toContain(`connected to 127.0.0.1:${port} again\n`);
    expect(seen.out.match(/first/g)).toHaveLength(1);
    seen.interrupt(EXIT.interrupted);
    expect(await code).toBe(130);
  });

  test('after a restart of Pointsman it says that events are missing', async () => {
    add(recent, 'first');
    const { seen, code } = start(['--follow']);
    await vi.waitFor(() => expect(seen.out).toContain('first'), PATIENCE);
    await Promise.all([admin.close(), keepPort(port)]);
    recent = newEvents('r2');
    add(recent, 'of the next run');
    await serve(port);
    await vi.waitFor(() => expect(seen.out).toContain('of the next run'), PATIENCE);
    expect(seen.err).toContain('pointsman: the id is not of this run: Pointsman has started again');
    seen.interrupt(EXIT.interrupted);
    await code;
  });
});
