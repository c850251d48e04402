import { expect, test } from 'vitest';
import { createLog } from '../../../src/telemetry/log.ts';
import { tapped } from '../../../src/telemetry/tapped-log.ts';
import type { TappedLine } from '../../../src/telemetry/tapped-log.ts';

test('lines of level info and above reach the listener, whatever level is written', () => {
  const written: string[] = [];
  const lines: TappedLine[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const { log } = createLog({ level: 'warn', format: 'json', isTerminal: false, destination });
  const both = tapped(log, (line) => lines.push(line));
  both.info({ event: 'a' }, 'first');
  both.warn({ event: 'b' }, 'second');
  both.debug({ event: 'c' }, 'third');
  expect(lines).toEqual([
    { level: 'info', fields: { event: 'a' }, text: 'first' },
    { level: 'warn', fields: { event: 'b' }, text: 'second' },
  ]);
  expect(written.length).toBe(1);
  expect([both.isLevelEnabled('info'), both.isLevelEnabled('debug')]).toEqual([true, false]);
  both.level = 'debug';
  expect(log.level).toBe('debug');
});
