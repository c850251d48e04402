// The sentence for each status of the management API.
import { describe, expect, test } from 'vitest';
import type { ClusterOperation } from '../../../src/cluster/control.ts';
import { notSent, resultOf } from '../../../src/cluster/operation-words.ts';

const SWITCHOVER: ClusterOperation = { kind: 'switchover', leader: 'pg-1', candidate: 'pg-2' };
const NOUN = 'the switchover from pg-1 to pg-2';

function answered(status: number, reason = '', operation = SWITCHOVER, document?: Record<string, unknown>) {
  return resultOf({
    operation,
    by: 'pg-1',
    answer: { kind: 'answered', status, reason, document },
    hasCredentials: false,
  });
}

test.each<[number, string, string]>([
  [200, 'done', `Done: ${NOUN}. pg-1 answered: so it is`],
  [202, 'scheduled', `Accepted: ${NOUN}. pg-1 answered: so it is`],
  [400, 'invalid', `pg-1 rejected the request for ${NOUN} as invalid (status 400). pg-1 answered: so it is`],
  [401, 'unauthorized', `pg-1 requires credentials for ${NOUN} (status 401): set cluster.api.auth.`],
  [403, 'unauthorized', `pg-1 does not allow ${NOUN} from here (status 403): its API has an allowlist`],
  [404, 'precondition', `Not possible now: ${NOUN} (status 404). pg-1 answered: so it is`],
  [409, 'precondition', `Not possible now: ${NOUN} (status 409).`],
  [412, 'precondition', `Not possible now: ${NOUN} (status 412). pg-1 answered: so it is`],
  [422, 'invalid', `as invalid (status 422)`],
  [500, 'failed', `Failed: ${NOUN} (status 500).`],
  [500, 'failed', `Failed: ${NOUN} (status 500).`],
  [503, 'failed', `Failed: ${NOUN} (status 503). pg-1 answered: so it is`],
  [302, 'unexpected', `pg-1 answered ${NOUN} with status 302, which is unexpected.`],
  [418, 'unexpected', `pg-1 answered ${NOUN} with status 418, which is unexpected.`],
])('%i', (status, kind, text) => {
  const result = answered(status, 'so it is');
  expect(result.kind).toBe(kind);
  expect(result.text).toContain(text);
  expect(result).toMatchObject({ reason: 'so it is', ...(status >= 300 ? { status } : {}) });
});

test('without a reason of the member the sentence ends', () => {
  expect(answered(412).text).toBe(`Not possible now: ${NOUN} (status 412).`);
});

test('a switchover that Patroni stopped waiting for may be under way', () => {
  const { text } = answered(503, 'Switchover status unknown');
  expect(text).toMatch(/^Failed: .* Switchover status unknown\. It may be under way: look at the cluster/);
});

test.each([502, 504])('so may one that a gateway has no answer to (status %i)', (status) => {
  const end = `(status ${status}). It may be under way: look at the cluster before you send it again.`;
  expect(answered(status).text).toBe(`A gateway before the API of pg-1 has no answer to ${NOUN} ${end}`);
  expect(answered(status, 'Bad Gateway.').text).toContain('answered: Bad Gateway. It may be under way');
});

test('credentials that are configured were not accepted', () => {
  const answer = { kind: 'answered', status: 401, reason: '', document: undefined } as const;
  const { text } = resultOf({ operation: SWITCHOVER, by: 'pg-1', answer, hasCredentials: true });
  expect(text).toContain('did not accept the credentials of cluster.api.auth');
});

describe('no answer', () => {
  test('to a request that may be under way', () => {
    const answer = { kind: 'no_answer', why: 'no whole answer within 150000 ms', isSent: true } as const;
    expect(resultOf({ operation: SWITCHOVER, by: 'pg-1', answer, hasCredentials: false })).toEqual({
      kind: 'no_answer',
      text: `pg-1 has the request for ${NOUN} and did not answer: no whole answer within 150000 ms. It may be under \
way: look at the cluster before you send it again.`,
      may_have_happened: true,
    });
  });

  test('because the request was not sent', () => {
    const unreached = ['pg-1 (connection refused)', 'pg-2 (no connection within 3000 ms)'];
    expect(notSent(SWITCHOVER, unreached)).toEqual({
      kind: 'no_answer',
      text: `The request for ${NOUN} was not sent: no connection to pg-1 (connection refused), pg-2 (no connection \
within 3000 ms).`,
      may_have_happened: false,
    });
  });
});

describe('a change of the configuration', () => {
  const patch: ClusterOperation = { kind: 'patch_config', changes: { ttl: 40 } };

  test('has the resulting configuration and not its text', () => {
    expect(answered(200, '{"ttl": 40}', patch, { ttl: 40 })).toEqual({
      kind: 'done',
      text: 'Done: the change of the configuration.',
      reason: '',
      config: { ttl: 40 },
    });
  });

  test('without it is unexpected, and may be in effect', () => {
    const text = expect.stringMatching(/resulting configuration\. It may be in effect: look at the configuration/);
    expect(answered(200, 'ok', patch)).toMatchObject({ kind: 'unexpected', reason: 'ok', text });
  });

  test.each([
    ['done', undefined, 'Done: the replacement of the configuration. pg-1 answered: done'],
    ['', undefined, 'Done: the replacement of the configuration.'],
    ['{"ttl": 40}', { ttl: 40 }, 'Done: the replacement of the configuration.'],
  ])('a replacement is done with any body: %j', (body, document, text) => {
    const whole: ClusterOperation = { kind: 'replace_config', config: { ttl: 40 } };
    expect(answered(200, body, whole, document)).toMatchObject({ kind: 'done', text });
  });
});

test('202 to an operation at a time is a schedule, and to another one no more than an acceptance', () => {
  const schedule = '2026-02-01T00:00:00Z';
  expect(answered(202, '', { ...SWITCHOVER, scheduled_at: schedule }).text).toMatch(/^Scheduled: /);
  expect(answered(202, '', { kind: 'restart', member: 'pg-2', schedule }).text).toMatch(/^Scheduled: /);
  expect(answered(202, '', { kind: 'restart', member: 'pg-2' }).text).toBe('Accepted: the restart of pg-2.');
});

test.each<[ClusterOperation, string]>([
  [SWITCHOVER, 'Done: the switchover from pg-1, but not to pg-2.'],
  [{ kind: 'failover', candidate: 'pg-2' }, 'Done: a failover, but not to pg-2.'],
])('another member than the candidate: %j', (operation, text) => {
  const reason = 'Switched over to "pg-3" instead of "pg-2"';
  expect(answered(200, reason, operation).text).toBe(`${text} pg-1 answered: ${reason}`);
});

test('a reload is accepted, and a reinitialization has started', () => {
  expect(answered(202, '', { kind: 'reload', member: 'pg-2' }).text).toBe('Accepted: the reload of pg-2.');
  expect(answered(200, '', { kind: 'reinitialize', member: 'pg-2' }).text).toBe(
    'Started: the reinitialization of pg-2.',
  );
});
