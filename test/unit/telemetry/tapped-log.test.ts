import { expect, test } from 'vitest';
import { createLog } from '../../../src/telemetry/log.ts';
import { tapped } from '../../../src/telemetry/tapped-log.ts';
import type { TappedLine } from '../../../src/telemetry/tapped-log.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';

test('lines of level info and above reach the listener, whatever level is written', () => {
  const written: string[] = [];
  const lines: TappedLine[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const { log } = createLog({ level: 'warn', format: 'json', isTerminal: false, destination });
  const both = tapped(log, new EventIds('r1'), (line) => lines.push(line));
  both.info({ event: 'a' }, 'first');
  both.warn({ event: 'b' }, 'second');
  both.debug({ event: 'c' }, 'third');
  expect(lines).toEqual([
    { level: 'info', fields: { event: 'a', event_id: 'r1-1' }, text: 'first', number: 1 },
    { level: 'warn', fields: { event: 'b', event_id: 'r1-2' }, text: 'second', number: 2 },
  ]);
  expect(written.length).toBe(1);
  expect([both.isLevelEnabled('info'), both.isLevelEnabled('debug')]).toEqual([true, false]);
  both.level = 'debug';
  expect(log.level).toBe('debug');
});

test('a line of an event keeps its number; a line of none takes the next one', () => {
  const ids = new EventIds('r1');
  const lines: TappedLine[] = [];
  const { log } = createLog({ level: 'fatal', format: 'json', isTerminal: false, destination: { write: () => true } });
  const both = tapped(log, ids, (line) => lines.push(line));
  const number = ids.next();
  ids.next();
  both.info({ event: 'a', event_id: ids.idOf(number), pool: 'write' }, '');
  both.error({ err: 'x' }, '');
  expect(lines.map(({ number, fields }) => [number, fields])).toEqual([
    [1, { event: 'a', event_id: 'r1-1', pool: 'write' }],
    [3, { event_id: 'r1-3', err: 'x' }],
  ]);
});
