// Random states of real sessions: each comes to a new session as it was.
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { movability } from '../../../src/core/movability.ts';
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { USUAL, ask, restore, startStateLab } from '../../support/labs/state-lab.ts';
import { FACTS } from '../../support/values/move-facts.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { choicesHere } from '../../support/sandbox/postgres.ts';
import { aMessage } from '../../support/sockets/messages.ts';
import { WireClient, aParse } from '../../support/sockets/wire-client.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\0', ''));
const letters = fc.string({
  unit: fc.constantFrom('a', 'é', '"', "'", '\\', '.', ';', '$', ' ', 'ü', '漢', 'x'),
  minLength: 1,
  maxLength: 12,
});
const states = fc.record({
  custom: fc.dictionary(fc.stringMatching(/^[a-z_][a-z0-9_$]{0,8}$/), text, { maxKeys: 4 }),
  prepared: fc.dictionary(letters, text, { maxKeys: 4 }),
  fromSql: fc.dictionary(
    letters.map((name) => `sql ${name}`),
    letters,
    { maxKeys: 3 },
  ),
  searchPath: fc.array(letters, { minLength: 1, maxLength: 3 }),
  workMem: fc.integer({ min: 64, max: 100_000 }),
  timeout: fc.constantFrom(0, 90, 1_500, 60_000, 7_200_000, 90_061_001),
  readOnly: fc.boolean(),
});

// A random name may be a keyword of SQL.
const KEYWORDS = {
  custom: { on: '', select: 'x' },
  prepared: { table: '' },
  fromSql: { 'sql user': '' },
  searchPath: ['all'],
  workMem: 64,
  timeout: 0 as const,
  readOnly: false,
};

const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const CHOICES = await choicesHere();

describeUnless(missingForSandbox, 'random states', () => {
  test.each(CHOICES)('on PostgreSQL %s', { timeout: 120_000 }, async (choice) => {
    const lab = await startStateLab(choice);
    onTestFinished(() => lab.close());
    const startup = { user: 'app', database: 'postgres' };
    await fc.assert(
      fc.asyncProperty(states, async ({ custom, prepared, fromSql, searchPath, workMem, timeout, readOnly }) => {
        const client = await WireClient.connect(lab.server, startup);
        for (const [name, value] of Object.entries(custom)) {
          await client.query(`set app.${identifier(name)} = ${literal(value)}`);
        }
        await client.query(`set search_path = ${searchPath.map(identifier).join(', ')}; set work_mem = ${workMem};
          set default_transaction_read_only = ${String(readOnly)}`);
        const parses = Object.entries(prepared).map(([name, value]) => aParse(name, `select $1, ${literal(value)}`));
        await client.exchange(...parses, aMessage('S'));
        for (const [name, value] of Object.entries(fromSql)) {
          await client.query(`prepare ${identifier(name)} as select ${literal(value.replaceAll(';', ','))}`);
        }
        // Last: the limit is for the question.
        await client.query(`set statement_timeout = ${timeout}`);
        const customNames = Object.keys(custom).map((name) => `app.${name}`);
        const asked = await ask(client, { ...USUAL, customNames });
        if (asked.kind !== 'answered') throw new Error(JSON.stringify(asked));
        expect([...asked.state.custom.values()].toSorted()).toEqual(Object.values(custom).toSorted());
        expect(asked.state.prepared).toHaveLength(parses.length + Object.keys(fromSql).length);
        const next = await WireClient.connect(lab.server, startup);
        if (movability(FACTS, asked.state).kind === 'movable') {
          expect(await restore(next, asked.state)).toEqual({ kind: 'restored' });
          expect(await ask(next, { ...USUAL, customNames })).toEqual(asked);
        }
        client.socket.destroy();
        next.socket.destroy();
      }),
      { numRuns: 40, examples: [[KEYWORDS]] },
    );
  });
});
