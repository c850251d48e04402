import { describe, expect, it } from 'vitest';
import { within } from '../world/within.ts';
import { createWorld } from '../world/world.ts';
import { ServerBench } from './server-bench.ts';

async function bench(standbys = 0, maxConnections = 20) {
  const world = createWorld(3);
  const bench = new ServerBench(world, standbys, maxConnections);
  await world.run(1_000);
  const open = async (server = bench.server) => {
    const connection = bench.connection(server);
    const end = await within(world, connection.open());
    return { connection, end, run: (sql: string) => within(world, connection.query(sql)) };
  };
  return { world, bench, open };
}

describe('a simulated server', () => {
  it('runs transactions: what fails or is rolled back is not there, and the next statement is', async () => {
    const {
      bench: { server, ledger },
      open,
    } = await bench();
    const { run, connection } = await open();
    expect(await run("INSERT INTO writes VALUES ('c', 1)")).toMatchObject({ kind: 'done', tag: 'INSERT 0 1' });
    await run('BEGIN');
    await run("INSERT INTO writes VALUES ('c', 2)");
    expect(await run('no statement')).toMatchObject({ kind: 'failed', code: '42601' });
    expect([connection.status(), await run('SELECT 1')]).toMatchObject(['E', { kind: 'failed', code: '25P02' }]);
    expect(await run('COMMIT')).toMatchObject({ tag: 'ROLLBACK' });
    await run("BEGIN; INSERT INTO writes VALUES ('c', 3); COMMIT");
    expect(server.database().numbers('c')).toEqual([1, 3]);
    expect(
      ledger
        .writes()
        .map(({ change, record, confirmedAt }) => [change?.number, record !== undefined, confirmedAt !== undefined]),
    ).toEqual([
      [1, true, true],
      [2, false, false],
      [3, true, true],
    ]);
  });

  it('ends its sessions at a shutdown, refuses others meanwhile, and is gone', async () => {
    const {
      world,
      bench: { server },
      open,
    } = await bench();
    const [idle, busy] = [await open(), await open()];
    let idleEnd: string | undefined;
    idle.connection.onEnd = (code) => (idleEnd = code);
    const sleep = busy.connection.query('SELECT pg_sleep(2)');
    await world.run(20);
    server.stop();
    expect([await within(world, sleep), idleEnd]).toMatchObject([{ kind: 'lost', code: '57P01' }, '57P01']);
    expect(await open()).toMatchObject({ end: { code: '57P03' } });
    await world.run(500);
    expect(await open()).toMatchObject({ end: { kind: 'lost', why: 'ECONNREFUSED' } });
  });

  it('recovers from the crash of a process on the same timeline, with all that was confirmed', async () => {
    const {
      world,
      bench: { server },
      open,
    } = await bench();
    const { connection, run } = await open();
    let lastWords: string | undefined = 'none';
    connection.onEnd = (code) => (lastWords = code);
    await run("INSERT INTO writes VALUES ('c', 1)");
    server.crashBackend();
    await world.run(5);
    // A warning, and then the bare end.
    expect([lastWords, (await open()).end]).toMatchObject([undefined, { code: '57P03' }]);
    await world.run(1_000);
    expect([server.state(), server.timeline(), server.recovered(), server.database().numbers('c')]).toEqual([
      'primary',
      1,
      server.wal.end(),
      [1],
    ]);
  });

  it('may lose the commits of the last moment with synchronous_commit = off, and no others', async () => {
    const {
      world,
      bench: { server },
      open,
    } = await bench();
    const { run } = await open();
    await run('SET synchronous_commit = off');
    await run("INSERT INTO writes VALUES ('c', 1)");
    await world.run(500);
    await run("INSERT INTO writes VALUES ('c', 2)");
    server.kill();
    server.start(true);
    await world.run(1_000);
    expect(server.database().numbers('c')).toEqual([1]);
  });

  it('cancels a statement by its key, and has no room for too many', async () => {
    const { world, open } = await bench(0, 2);
    const { connection } = await open();
    const sleep = connection.query('SELECT pg_sleep(9)');
    await world.run(20);
    connection.cancel();
    expect(await within(world, sleep)).toMatchObject({ kind: 'failed', code: '57014' });
    await open();
    expect((await open()).end).toMatchObject({ kind: 'lost', code: '53300' });
  });

  it('streams to standbys, which refuse writes and show what they have replayed', async () => {
    const {
      world,
      bench: {
        standbys: [standby],
      },
      open,
    } = await bench(1);
    const [writer, reader] = [await open(), await open(standby)];
    standby?.pauseReplay(true);
    await writer.run("INSERT INTO writes VALUES ('c', 1)");
    await world.run(100);
    const numbers = "SELECT number FROM writes WHERE client = 'c'";
    expect([await reader.run(numbers), reader.connection.parameters.get('in_hot_standby')]).toMatchObject([
      { rows: [] },
      'on',
    ]);
    expect(await reader.run("INSERT INTO writes VALUES ('c', 2)")).toMatchObject({ code: '25006' });
    standby?.pauseReplay(false);
    expect(await reader.run(numbers)).toMatchObject({ rows: [['1']] });
    standby?.promote(1, () => {});
    await world.run(500);
    expect(await reader.run("INSERT INTO writes VALUES ('c', 3)")).toMatchObject({ kind: 'done' });
    expect([standby?.timeline(), reader.connection.parameters.get('in_hot_standby')]).toEqual([2, 'off']);
  });

  it('waits for a synchronous standby, warns when the wait is cut short, and shows nothing before', async () => {
    const {
      world,
      bench: {
        server,
        standbys: [standby],
        ledger,
        client,
      },
      open,
    } = await bench(1);
    server.requireStandbys(['pg2']);
    const [writer, other] = [await open(), await open()];
    expect(await writer.run("INSERT INTO writes VALUES ('c', 1)")).toMatchObject({ kind: 'done', notices: [] });
    if (standby === undefined) throw new Error('no standby');
    world.network.cut(server.host, standby.host);
    const waiting = writer.connection.query("INSERT INTO writes VALUES ('c', 2)");
    await world.run(300);
    expect(await other.run("SELECT number FROM writes WHERE client = 'c'")).toMatchObject({ rows: [['1']] });
    writer.connection.cancel();
    expect(await within(world, waiting)).toMatchObject({ kind: 'done', notices: ['01000'] });
    expect(ledger.writes().map(({ isLocalOnly }) => isLocalOnly)).toEqual([false, true]);
    const last = writer.connection.query("INSERT INTO writes VALUES ('c', 3)");
    await world.run(300);
    server.stop();
    // PostgreSQL has nothing but a warning for it.
    expect([client.isUp, await within(world, last)]).toMatchObject([true, { kind: 'lost', code: undefined }]);
    expect(ledger.writes().at(-1)).toMatchObject({ isLocalOnly: true, confirmedAt: undefined });
  });

  it('notices that a client is gone when its work is done, and when it goes on after a stop', async () => {
    const { world, bench: servers, open } = await bench();
    const { server } = servers;
    const { connection } = await open();
    void connection.query('SELECT pg_sleep(1)');
    await world.run(20);
    connection.drop();
    await world.run(500);
    expect(server.sessions()).toHaveLength(1);
    await world.run(1_000);
    expect(server.sessions()).toEqual([]);
    server.freeze();
    const late = servers.connection();
    void late.open();
    await world.run(10);
    late.drop();
    await world.run(500);
    server.thaw();
    await world.run(500);
    expect(server.sessions()).toEqual([]);
  });

  it('has the end of a transaction that was rolled back on its disk soon, and at its standbys', async () => {
    const {
      world,
      bench: {
        server,
        standbys: [standby],
      },
      open,
    } = await bench(1);
    const { run } = await open();
    await run("BEGIN; INSERT INTO writes VALUES ('c', 1); ROLLBACK");
    await world.run(300);
    expect(standby?.wal.end()).toBe(server.wal.end());
  });

  it('does nothing while it is frozen, and then what was due', async () => {
    const {
      world,
      bench: { server },
      open,
    } = await bench();
    const { connection } = await open();
    server.freeze();
    const write = connection.query("INSERT INTO writes VALUES ('c', 1)");
    await world.run(3_000);
    expect(server.database().numbers('c')).toEqual([]);
    server.thaw();
    expect(await within(world, write)).toMatchObject({ kind: 'done' });
  });
});
