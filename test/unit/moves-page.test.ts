// deploy/moves.md has every reason for which a session stays or is lost, and the names that deploy/moves.sql gives.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MOVE_FAILURES } from '../../src/model/close-reason.ts';
import { PIN_REASONS } from '../../src/model/moves.ts';
import { TOP } from '../support/documents/markdown.ts';
import { configOf, load } from '../support/values/loading.ts';

const read = (file: string): string => readFileSync(join(TOP, file), 'utf8');
const PAGE = read('deploy/moves.md');

/** The first cells of the tables. */
const FIRST_CELLS = new Set([...PAGE.matchAll(/^\| \[?`(\w+)`/gm)].map(([, name = '']) => name));

test('every reason why a session stays, and every failure of a move, has a row', () => {
  const reasons = [...PIN_REASONS, ...MOVE_FAILURES];
  expect(reasons.filter((reason) => !FIRST_CELLS.has(reason))).toEqual([]);
});

test('no row names a reason that does not exist', () => {
  const known = new Set<string>([...PIN_REASONS, ...MOVE_FAILURES]);
  expect([...FIRST_CELLS].filter((name) => !known.has(name))).toEqual([]);
});

test('the default query calls the function of the script, and the example has its role', () => {
  const script = read('deploy/moves.sql');
  const { verifiers } = configOf(load(read('config/moves.yaml'), {})).moves ?? {};
  if (verifiers?.kind !== 'query') throw new Error('the example has no lookup role');
  expect(verifiers.query).toBe('SELECT pointsman.verifier($1)');
  expect(script).toContain('FUNCTION pointsman.verifier(role_name text)');
  expect(script).toContain(`CREATE ROLE ${verifiers.user} LOGIN`);
});
