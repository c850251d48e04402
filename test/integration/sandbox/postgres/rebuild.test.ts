// A base backup of a server under writes gives a standby with the same data.
import { expect, test } from 'vitest';
import type { PostgresServer } from '../../../../src/sandbox/postgres/postgres-server.ts';
import {
  ask,
  prepareServers,
  startAs,
  startReplication,
  untilAnswer,
  untilStreaming,
} from '../../../support/sandbox/postgres.ts';

const CONTENT = "select md5(string_agg(id || ':' || amount, ',' order by id)) from accounts";

/**
 * Updates, inserts and deletes with checkpoints in between, until the caller stops it. Resolves with the number of
 * rounds.
 */
function keepWriting(server: PostgresServer): () => Promise<number> {
  let isOver = false;
  async function write(): Promise<number> {
    for (let round = 1; ; round += 1) {
      await server.query(`update accounts set amount = amount + ${round} where id % 3 = ${round % 3}`, [], 20_000);
      await server.query(`insert into accounts select max(id) + 1, ${round} from accounts`, [], 20_000);
      await server.query('delete from accounts where id in (select min(id) from accounts)', [], 20_000);
      if (round % 3 === 0) await server.query('checkpoint', [], 20_000);
      if (isOver) return round;
    }
  }
  const writing = write();
  return () => {
    isOver = true;
    return writing;
  };
}

test('from the primary and from a standby, under concurrent writes', { timeout: 120_000 }, async () => {
  const servers = await prepareServers(3);
  const [first, second, third] = [servers.server(0), servers.server(1), servers.server(2)];
  await startReplication(first, second);
  await first.query(
    'create table accounts as select id, id as amount from generate_series(1, 20000) as id',
    [],
    20_000,
  );
  await first.query('create unique index on accounts (id)');
  for (const source of [first, second]) {
    await third.kill();
    const endWriting = keepWriting(first);
    await third.rebuildFrom(source);
    await startAs(third, first);
    expect(await endWriting()).toBeGreaterThan(1);
    await untilStreaming(first, third);
    const content = await ask(first, CONTENT);
    await untilAnswer(third, CONTENT, String(content));
    // Through the index too, which is copied page by page as the table is.
    expect(await ask(third, 'select sum(amount) from accounts where id between 5000 and 5100')).toBe(
      await ask(first, 'select sum(amount) from accounts where id between 5000 and 5100'),
    );
  }
  expect(await ask(third, 'select pg_is_in_recovery()')).toBe('true');
});

test('a rebuild ends when its server is killed, and leaves nothing that could start', { timeout: 60_000 }, async () => {
  const servers = await prepareServers(2);
  const [first, second] = [servers.server(0), servers.server(1)];
  await startReplication(first);
  const rebuilding = second.rebuildFrom(first);
  const rejected = expect(rebuilding).rejects.toThrow('node-2 was killed');
  await second.kill();
  await rejected;
  expect(await second.start({ kind: 'primary' }, {})).toMatchObject({ kind: 'failed', reason: 'exited' });
  await second.rebuildFrom(first);
  await startAs(second, first);
  await untilStreaming(first, second);
});
