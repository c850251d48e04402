// The answer to each statement.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { answerTo } from '../../../src/console/statement-answer.ts';
import type { StatementAnswer } from '../../../src/console/statement-answer.ts';
import { parametersOf } from '../../../src/console/parameters.ts';
import { SHOWS } from '../../../src/console/shows/shows.ts';
import { statementsOf } from '../../../src/console/statements.ts';
import { aConsoleSources } from '../../support/values/console.ts';

const PAGE = readFileSync(new URL('../../../deploy/console.md', import.meta.url), 'utf8');

function answer(query: string, hasToken = true): StatementAnswer {
  const [statement] = statementsOf(query);
  if (statement === undefined) throw new Error(`no statement: ${query}`);
  return answerTo(statement, { parameters: parametersOf('1.2.3'), hasToken });
}

function refusal(query: string): readonly (string | undefined)[] {
  const given = answer(query);
  if (given.kind !== 'error') throw new Error(`accepted: ${query}`);
  expect(given.fields.severity).toBe('ERROR');
  return [given.fields.sqlState, given.fields.message, given.fields.hint];
}

test.each([...SHOWS.keys()])('SHOW %s in any case', (name) => {
  const show = SHOWS.get(name);
  expect(answer(`SHOW ${name}`)).toEqual({ kind: 'show', show });
  expect(answer(`show ${name.toLowerCase()} ;`)).toEqual({ kind: 'show', show });
});

test.each(['SESSIONS', 'CLIENTS', 'SERVERS'])('SHOW %s names clients, so it needs the token', (name) => {
  expect(answer(`show ${name}`, false)).toMatchObject({
    kind: 'error',
    fields: {
      sqlState: '42501',
      hint: 'Set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE), and log in with the token.',
    },
  });
  expect(answer(`show ${name}`, true)).toMatchObject({ kind: 'show' });
});

describe('SHOW of something else', () => {
  test.each([
    ['show pool', 'there is no SHOW POOL', 'did you mean SHOW POOLS?'],
    ['show tables', 'there is no SHOW TABLES', 'SHOW HELP lists the statements.'],
    ['show', 'SHOW needs a name', 'SHOW HELP lists the statements.'],
  ])('%s', (query, message, hint) => {
    expect(refusal(query)).toEqual(['42704', message, hint]);
  });

  test.each(['USERS', 'PEERS', 'STATS_AVERAGES', 'TOTALS', 'FDS', 'MEM', 'DNS_HOSTS', 'DNS_ZONES', 'STATE'])(
    'SHOW %s of PgBouncer is told what to use instead',
    (name) => {
      expect(refusal(`show ${name}`)[2]).toMatch(/SHOW \w+|GET \/\w+/);
    },
  );

  test('with more behind it', () => {
    expect(refusal('show pools like x')).toEqual(['42601', 'SHOW POOLS takes nothing behind it', 'Leave out: LIKE X']);
  });

  test('a parameter of the session has one row', async () => {
    const given = answer('show Server_Version');
    if (given.kind !== 'show') throw new Error('not shown');
    expect(given.show.columns).toMatchObject([{ name: 'server_version', type: 'text' }]);
    expect(await given.show.read(aConsoleSources())).toMatchObject({ rows: [['1.2.3/pointsman']] });
    expect(answer('show transaction isolation level')).toMatchObject({ kind: 'show' });
  });
});

describe('the console only reads', () => {
  test.each([
    ['RELOAD', 'pointsman reload'],
    ['PAUSE', 'pointsman switchover'],
    ['pause db', 'pointsman drain'],
    ['SUSPEND', 'pointsman drain'],
    ['DISABLE write', 'pointsman drain'],
    ['RECONNECT', 'pointsman drain'],
    ['WAIT_CLOSE', 'pointsman drain'],
    ['RESUME', 'pointsman resume'],
    ['ENABLE write', 'pointsman resume'],
    ['KILL write', 'pointsman kill'],
    ['KILL_CLIENT 1', 'pointsman kill'],
    ['SHUTDOWN', 'SIGTERM'],
    ["SET pool_mode = 'x'", 'pointsman reload'],
  ])('%s: the hint names %s', (query, hint) => {
    const [sqlState, message, said] = refusal(query);
    expect(sqlState).toBe('25006');
    expect(message).toContain('only reads');
    expect(said).toContain(hint);
    // The page is held to commands that exist (unit/documents.test.ts).
    const commands = said?.match(/pointsman [a-z]+/g) ?? [];
    for (const command of commands) expect(PAGE).toContain(`\`${command}`);
  });

  test.each([
    ['select 1', '0A000'],
    ['with a as (select 1) select * from a', '0A000'],
    ['drop table a', '42601'],
    ['; ; 5', '42601'],
  ])('%s', (query, sqlState) => {
    expect(refusal(query)[0]).toBe(sqlState);
  });
});

test.each([
  ['BEGIN', 'BEGIN', 'in_transaction'],
  ['start transaction read only', 'BEGIN', 'in_transaction'],
  ['commit', 'COMMIT', 'idle'],
  ['end', 'COMMIT', 'idle'],
  ['rollback', 'ROLLBACK', 'idle'],
  ['SET extra_float_digits = 3', 'SET', undefined],
  ["set local application_name to 'x'", 'SET', undefined],
  ['discard all', 'DISCARD', undefined],
])('%s, which drivers send unasked, has no effect', (query, tag, status) => {
  expect(answer(query)).toEqual({ kind: 'done', tag, ...(status === undefined ? {} : { status }) });
});
