import { expect, test } from 'vitest';
import type { CarriedState } from '../../../../src/model/moves.ts';
import { packState, unpackState } from '../../../../src/proxy/moves/packed-state.ts';

const STATE: CarriedState = {
  settings: new Map([
    ['work_mem', '7MB'],
    ['search_path', '"größe", public'],
  ]),
  privilegedSettings: ['log_min_messages'],
  custom: new Map([['app.tenant', 'a\'b"\n']]),
  namedSettings: undefined,
  unclearNames: undefined,
  prepared: [
    {
      name: 'one',
      statement: 'select $1',
      parameterTypes: [23],
      resultColumns: ['n:23:-1', 't:25:-1'],
      isFromSql: false,
    },
    { name: '', statement: '', parameterTypes: [], resultColumns: undefined, isFromSql: true },
  ],
  reading: new Map([['TimeZone', 'UTC']]),
  role: 'reader',
  sessionUser: 'app',
  identity: '5.10.10',
  searchPath: 'public',
  listening: ['news'],
  holdableCursors: ['c'],
  advisoryLocks: 1,
  temporaryObjects: 2,
  temporarySlots: 3,
  walWriterDelayMs: 200,
};

test('all of a state comes back, but for the names and the position of the question', () => {
  const wal = { received: { timeline: 3, bytes: 5 } };
  const asked = Object.assign({}, STATE, {
    namedSettings: { version: '1', names: ['app.tenant'], unclear: [] },
    wal,
  });
  expect(unpackState(packState(asked))).toEqual(STATE);
  expect(packState(asked)).toBe(packState(STATE));
});

test('another state has another text', () => {
  expect(packState({ ...STATE, custom: new Map() })).not.toBe(packState(STATE));
  expect(packState({ ...STATE, role: 'none' })).not.toBe(packState(STATE));
});
