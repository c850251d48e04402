// Bodies of the write operations: the accepted ones, and the words of each refusal.
import { describe, expect, test } from 'vitest';
import { BadBody } from '../../../../src/sandbox/api/request-body.ts';
import {
  parseChangeOfLeader,
  parseObject,
  parseReinitialize,
  parseRestart,
} from '../../../../src/sandbox/api/requests.ts';
import { scheduleText } from '../../../../src/sandbox/api/schedule.ts';

const NOW = new Date('2026-07-01T12:00:00Z');

const switchover = (body: unknown, takesNull = false): unknown =>
  outcome(() => parseChangeOfLeader(JSON.stringify(body), 'switchover', takesNull, NOW));
const failover = (body: unknown): unknown =>
  outcome(() => parseChangeOfLeader(JSON.stringify(body), 'failover', false, NOW));
const restart = (body: unknown): unknown => outcome(() => parseRestart(JSON.stringify(body), NOW));
const reinitialize = (body: unknown): unknown => outcome(() => parseReinitialize(JSON.stringify(body)));

/** The parsed value, or kind and text of the reason against the body. */
function outcome(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof BadBody)) throw error;
    return { kind: error.kind, text: error.message };
  }
}

describe('every body', () => {
  const parsers = {
    '/switchover': (text: string) => parseChangeOfLeader(text, 'switchover', false),
    '/failover': (text: string) => parseChangeOfLeader(text, 'failover', false),
    '/restart': (text: string) => parseRestart(text),
    '/reinitialize': parseReinitialize,
    '/config': (text: string) => parseObject(text, 'required'),
  };
  const cases = [
    ['{"leader": ', 'the body is not JSON'],
    ['leader=n1', 'the body is not JSON'],
    ['["n1"]', 'the body is not a JSON object: ["n1"]'],
    ['"n1"', 'the body is not a JSON object: "n1"'],
    ['null', 'the body is not a JSON object: null'],
    ['5', 'the body is not a JSON object: 5'],
  ] as const;
  describe.each(Object.entries(parsers))('%s', (_path, parse) => {
    test.each(cases)('%s', (text, expected) => {
      expect(outcome(() => parse(text))).toEqual({ kind: 'invalid', text: expect.stringContaining(expected) });
    });
  });

  test.each(['/switchover', '/failover', '/config'] as const)('%s needs a body', (path) => {
    expect(outcome(() => parsers[path](' \n'))).toEqual({
      kind: 'invalid',
      text: 'the body is empty: a JSON object is needed',
    });
  });

  test.each(['/restart', '/reinitialize'] as const)('%s needs no body', (path) => {
    expect(parsers[path]('')).toEqual(parsers[path]('{}'));
  });
});

describe('/switchover and /failover', () => {
  const asked = { leader: 'n1', candidate: 'n2', scheduledAt: undefined };

  test('leader and candidate, the latter optional', () => {
    expect(switchover({ leader: 'n1', candidate: 'n2' })).toEqual(asked);
    const any = { ...asked, candidate: undefined };
    for (const candidate of [undefined, '']) expect(switchover({ leader: 'n1', candidate })).toEqual(any);
    const ofPatronictl = { leader: 'n1', candidate: null, scheduled_at: null };
    expect(switchover(ofPatronictl, true)).toEqual(any);
    expect(switchover(ofPatronictl)).toMatchObject({ kind: 'invalid' });
  });

  test('with a schedule', () => {
    const text = '2026-07-01T14:00:01+02:00';
    expect(switchover({ leader: 'n1', candidate: 'n2', scheduled_at: text })).toEqual({ ...asked, scheduledAt: text });
  });

  test('a failover needs a candidate, and with a leader it is a switchover', () => {
    expect(failover({ candidate: 'n2' })).toEqual({ leader: undefined, candidate: 'n2' });
    expect(failover({ leader: 'n1', candidate: 'n2' })).toEqual(asked);
  });

  const REFUSED = [
    [switchover, { candidate: 'n2' }, 'leader is required: Switchover could be performed only from a specific leader'],
    [switchover, { leader: '' }, 'leader is required: Switchover could be performed only from a specific leader'],
    [switchover, { leader: 5 }, 'leader must be a string, not 5'],
    [switchover, { leader: 'n1', candidate: ['n2'] }, 'candidate must be a string, not ["n2"]'],
    [switchover, { leader: 'n1', target: 'n2', at: 1 }, 'unknown field: target, at'],
    [switchover, { leader: 'n1', scheduled_at: 1 }, 'scheduled_at must be a string, not 1'],
    [
      switchover,
      { leader: 'n1', scheduled_at: '2027-01-01T00:00:00' },
      'Timezone information is mandatory for the scheduled switchover',
    ],
    [failover, {}, 'candidate is required: Failover could be performed only to a specific candidate'],
    [failover, { leader: 'n1' }, 'candidate is required: Failover could be performed only to a specific candidate'],
    [failover, { candidate: 'n2', scheduled_at: '2027-01-01T00:00:00Z' }, "Failover can't be scheduled"],
  ] as const;
  test.each(REFUSED)('%o %j', (parse, body, text) => {
    expect(parse(body)).toEqual({ kind: 'invalid', text });
  });

  test('a past time has its own error', () => {
    expect(switchover({ leader: 'n1', scheduled_at: '2026-07-01T12:00:00Z' })).toEqual({
      kind: 'bad_schedule',
      text: 'Cannot schedule switchover in the past',
    });
  });
});

describe('/restart', () => {
  test('without conditions', () => {
    expect(parseRestart('')).toEqual({ conditions: {}, schedule: undefined });
  });

  test('null is no schedule: a restart at once would be the worst reading of it', () => {
    expect(restart({ schedule: null })).toMatchObject({ kind: 'invalid' });
  });

  test('every condition', () => {
    const body = { restart_pending: false, role: 'replica', postgres_version: '18.5', timeout: 30.5 };
    expect(restart(body)).toEqual({ conditions: body, schedule: undefined });
  });

  test('scheduled', () => {
    expect(restart({ schedule: '2027-01-01T00:00:00Z' })).toEqual({
      conditions: {},
      schedule: '2027-01-01T00:00:00+00:00',
    });
  });

  const REFUSED = [
    [
      { role: 'master' },
      'role must be primary, replica or standby_leader (from version 4.0.0 on, primary is the word), not "master"',
    ],
    [{ role: 'king' }, 'role must be primary, replica or standby_leader, not "king"'],
    [{ role: true }, 'role must be a string, not true'],
    [{ postgres_version: 'newest' }, 'postgres_version must be a PostgreSQL version such as 18.4, not "newest"'],
    [{ postgres_version: 18 }, 'postgres_version must be a string, not 18'],
    [{ timeout: 0 }, 'timeout must be more than 0, not 0'],
    [{ timeout: 'soon' }, 'timeout must be a number, not "soon"'],
    [{ restart_pending: 'yes' }, 'restart_pending must be true or false, not "yes"'],
    [{ when: 'now' }, 'unknown field: when'],
    [{ timeout: -1, role: 1 }, 'role must be a string, not 1; timeout must be more than 0, not -1'],
    [{ schedule: '2027-01-01T00:00:00' }, 'Timezone information is mandatory for the scheduled restart'],
  ] as const;
  test.each(REFUSED)('%j', (body, text) => {
    expect(restart(body)).toEqual({ kind: 'invalid', text });
  });

  test('a long value is cut in the answer', () => {
    expect(restart({ role: 'x'.repeat(10_000) })).toEqual({
      kind: 'invalid',
      text: expect.stringMatching(/^.{1,200}$/),
    });
  });
});

test('/reinitialize: force, and from-leader in both spellings', () => {
  expect(parseReinitialize('')).toEqual({ force: false, fromLeader: false });
  expect(reinitialize({ force: true })).toEqual({ force: true, fromLeader: false });
  for (const body of [{ 'from-leader': true }, { from_leader: true }]) {
    expect(reinitialize(body)).toEqual({ force: false, fromLeader: true });
  }
  expect(reinitialize({ force: 1 })).toEqual({ kind: 'invalid', text: 'force must be true or false, not 1' });
});

describe('schedules', () => {
  const GOOD = [
    ['2026-07-01T12:00:01Z', '2026-07-01T12:00:01+00:00', '2026-07-01T12:00:01.000Z'],
    ['2026-07-01T14:00:01.250+02:00', '2026-07-01T14:00:01.250+02:00', '2026-07-01T12:00:01.250Z'],
    ['2026-07-01 10:30 -0300', '2026-07-01T10:30:00-03:00', '2026-07-01T13:30:00.000Z'],
    ['2026-07-02T00:00:00+05', '2026-07-02T00:00:00+05:00', '2026-07-01T19:00:00.000Z'],
    ['2028-02-29T00:00:00z', '2028-02-29T00:00:00+00:00', '2028-02-29T00:00:00.000Z'],
  ] as const;
  test.each(GOOD)('%s', (given, text, date) => {
    expect(scheduleText(given, 'restart', NOW)).toBe(text);
    expect(Date.parse(text)).toBe(Date.parse(date));
  });

  const BAD = [
    ['presently', 'bad_schedule'],
    ['', 'bad_schedule'],
    ['2027-02-29T00:00:00Z', 'bad_schedule'],
    ['2027-13-01T00:00:00Z', 'bad_schedule'],
    ['2027-01-01T25:00:00Z', 'bad_schedule'],
    ['2027-01-01T00:00:00+99:00', 'bad_schedule'],
    ['2026-07-01T12:00:00Z', 'bad_schedule'],
    ['2026-07-01T13:59:59+02:00', 'bad_schedule'],
    ['2020-01-01T00:00:00', 'invalid'],
    ['2027-01-01', 'bad_schedule'],
  ] as const;
  test.each(BAD)('%s: %s', (given, kind) => {
    expect(outcome(() => scheduleText(given, 'restart', NOW))).toMatchObject({ kind });
  });
});
