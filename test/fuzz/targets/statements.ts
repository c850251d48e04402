// Texts of statements, as long as a chunk of a socket: they are read on the way, so no text may take long.
import assert from 'node:assert/strict';
import { statementsOf } from '../../../src/console/statements.ts';
import { commandAt, effectOfCommand, effectOfText } from '../../../src/wire/follow/statement-effect.ts';
import { movability } from '../../../src/core/movability.ts';
import { READING_SETTINGS } from '../../../src/model/moves.ts';
import { StatementTexts } from '../../../src/wire/follow/statement-texts.ts';
import { FACTS } from '../../support/values/move-facts.ts';
import { aState } from '../../support/values/carried-state.ts';
import type { FuzzTarget } from '../target.ts';

const DECODER = new TextDecoder('latin1');

function check(input: Uint8Array): void {
  const bytes = Buffer.concat([input, Buffer.of(0)]);
  const texts = new StatementTexts();
  texts.read(bytes, 0, bytes.length);
  assert(texts.names().length <= 100 && texts.preparedNames().length <= 100);
  for (const name of texts.names()) assert(name.length <= 100);
  const text = DECODER.decode(input.subarray(0, 8_192)).replaceAll('\0', ' ');
  effectOfText(text, true);
  effectOfText(text, false);
  effectOfCommand(commandAt(bytes, 0, bytes.length));
  statementsOf(text);
  const whole = DECODER.decode(input);
  for (const isFromSql of [true, false]) {
    const prepared = [{ name: 'p', statement: whole, parameterTypes: [], resultColumns: undefined, isFromSql }];
    movability({ ...FACTS, changedReading: READING_SETTINGS }, aState({ prepared }));
  }
}

export const statements: FuzzTarget = {
  name: 'statements',
  covers: ['wire/follow/statement', 'console/statements', 'core/movability'],
  longest: 65_536,
  seeds: [
    'select 1',
    "set a.b = 'c'; select set_config('a.b', 'x', false)",
    'prepare "a""b" as select $1',
    "do $$ begin execute format('set %I to 1', x); end $$",
    '/* a /* b */ c */ set -- d\n session a . b to default',
    "load 'x'; select setseed(0.5)",
    "select pg_catalog.set_config(x || 'y', z, true)",
    'begin isolation level serializable, read only',
    "set time zone 'utc'; reset all",
    'select now() as a, 1.5, null',
    'set u&"a" to 1',
    'deallocate all',
    "do language plpython3u 'x'",
    "execute ((( 'set a' || b",
    'select current_user; select version()',
    'show "x"',
  ].map((text) => Buffer.from(text)),
  words: [
    'set ',
    'session ',
    'local ',
    'set_config(',
    'current_setting(',
    'prepare ',
    'execute ',
    'do ',
    'language ',
    "'",
    "''",
    '"',
    '""',
    '$$',
    '$a$',
    '$',
    '/*',
    '*/',
    '--',
    '\n',
    ' ',
    '   ',
    '(',
    ')',
    ',',
    ';',
    '.',
    'a.b',
    '||',
    '%',
    'format(',
    'is_local => true',
    'load ',
    'begin ',
    'read only',
    ', ',
    'reset ',
    'time zone',
    "E'\\",
    'u&"',
    'as ',
    '-1',
    'now()',
  ],
  check,
};
