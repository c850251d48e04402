// TIME of a scheduled operation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { farAhead, parseTime, sentTime, timeText } from '../../../../src/cli/cluster/times.ts';

const NOW = new Date('2026-01-31T12:00:00Z');

const zone = process.env['TZ'];
beforeAll(() => {
  process.env['TZ'] = 'Europe/Berlin';
});
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

function sent(text: string): string {
  const parsed = parseTime(text, NOW);
  return parsed instanceof Date ? sentTime(parsed) : parsed;
}

describe('a time is sent in UTC with an offset', () => {
  test.each([
    ['2026-01-31T18:00:00+01:00', '2026-01-31T17:00:00+00:00'],
    ['2026-01-31 18:00+0100', '2026-01-31T17:00:00+00:00'],
    ['2026-01-31 18:00:00 +01', '2026-01-31T17:00:00+00:00'],
    ['2026-01-31T18:00:00.123456Z', '2026-01-31T18:00:00+00:00'],
    [' 2026-01-31t18:00z ', '2026-01-31T18:00:00+00:00'],
    ['now+10m', '2026-01-31T12:10:00+00:00'],
    ['now + 10min', '2026-01-31T12:10:00+00:00'],
    ['NOW+1h+30m', '2026-01-31T13:30:00+00:00'],
    ['now+2d', '2026-02-02T12:00:00+00:00'],
    ['now+45s', '2026-01-31T12:00:45+00:00'],
  ])('%j', (text, expected) => {
    expect(sent(text)).toBe(expected);
  });
});

describe('a time that cannot be used: the reason and the remedy', () => {
  test.each([
    ['2026-01-31T11:50:00Z', '2026-01-31T11:50:00Z is in the past, 10 min ago: give a later time, or leave the option'],
    ['now+0s', 'now+0s is now: give a later time'],
    ['2028-01-31T12:00:00Z', '2028-01-31T12:00:00Z is 730 d ahead: check the date'],
    ['now+999999999999999d', 'is too far ahead: check the number'],
    [
      '2026-01-31T18:00',
      'has no offset: write 2026-01-31T18:00:00+01:00 for local time, or 2026-01-31T18:00:00Z for UTC',
    ],
    ['2026-07-01 18:00:30', 'write 2026-07-01T18:00:30+02:00 for local time'],
    ['2026-02-30T12:00Z', '2026-02-30T12:00Z is not a time: no calendar has it'],
    ['2026-01-31T25:00Z', 'is not a time: no calendar has it'],
    ['tomorrow', 'tomorrow is not a time: write 2026-01-31T18:00:00+01:00, or now+10m'],
    ['now+10', 'now+10 is not a time'],
    ['now-10m', 'now-10m is not a time'],
    ['2026-01-31T18:00+99:00', 'is not a time'],
    ['', ' is not a time'],
  ])('%j', (text, expected) => {
    expect(sent(text)).toContain(expected);
  });
});

describe('a time is shown in local time and in UTC', () => {
  test.each([
    ['2026-01-31T12:10:00Z', '2026-01-31 13:10:00 +01:00 (12:10:00 UTC), in 10 min'],
    ['2026-01-31T23:30:00Z', '2026-02-01 00:30:00 +01:00 (2026-01-31 23:30:00 UTC), in 11.5 h'],
    ['2026-01-31T11:59:30Z', '2026-01-31 12:59:30 +01:00 (11:59:30 UTC), 30 s ago'],
  ])('%s', (at, expected) => {
    expect(timeText(new Date(at), NOW)).toBe(expected);
  });

  test('a zone west of Greenwich', () => {
    process.env['TZ'] = 'America/St_Johns';
    expect(timeText(new Date('2026-01-31T12:10:00Z'), NOW)).toBe(
      '2026-01-31 08:40:00 -03:30 (12:10:00 UTC), in 10 min',
    );
    process.env['TZ'] = 'Europe/Berlin';
  });
});

test('a time more than a week ahead is worth a warning', () => {
  expect(farAhead(new Date('2026-02-07T12:00:00Z'), NOW)).toEqual([]);
  expect(farAhead(new Date('2026-02-10T12:00:00Z'), NOW)).toEqual(['the time is 10 d ahead: check the date']);
});
