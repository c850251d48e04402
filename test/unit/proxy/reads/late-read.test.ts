// The sentence for the client of a read that is late: it names what is missing, and of which server.
import { expect, test } from 'vitest';
import { lateError, shownWait, staleNotice, whyLate } from '../../../../src/proxy/reads/late-read.ts';
import type { ReadWait } from '../../../../src/proxy/reads/read-train.ts';

function aLate(wait: Partial<ReadWait>) {
  const unknown = { why: 'unasked', primary: 'pg-1', word: undefined, behindBytes: undefined } as const;
  return {
    scope: 'proxy' as const,
    since: 5,
    waitMs: 500,
    member: 'pg-2',
    wait: { ...unknown, unanswered: new Map<string, string>(), ...wait },
  };
}

const MUTE = new Map([
  ['pg-2', 'too many clients'],
  ['pg-1', 'no route to host'],
]);

test.each<[string, Partial<ReadWait>]>([
  ['No primary is proven.', { why: 'primary_unproven', primary: undefined }],
  ['pg-2 has not reported the timeline of pg-1.', { why: 'timeline_unknown' }],
  ['A question is under way.', { why: 'unasked' }],
  ['A question is under way.', { why: 'unasked', primary: undefined }],
  ['pg-1 does not answer questions: no route to host.', { why: 'unasked', unanswered: MUTE }],
  ['pg-2 does not answer questions: too many clients.', { why: 'unasked', primary: undefined, unanswered: MUTE }],
  ['pg-2 does not answer questions: too many clients.', { why: 'behind', behindBytes: 60, unanswered: MUTE }],
  [
    'pg-2 is 60 B behind pg-1. It may replay slowly, or a query on it blocks replay.',
    { why: 'behind', behindBytes: 60 },
  ],
  ['pg-2 is behind pg-1. It may replay slowly, or a query on it blocks replay.', { why: 'behind' }],
])('%s', (sentence, wait) => {
  expect(whyLate(aLate(wait))).toBe(sentence);
  const detailOf = (whyHere?: string): string => Buffer.from(lateError(aLate(wait), whyHere)).toString();
  expect(detailOf()).toContain(`D${sentence} No server has seen the statement.\0`);
  expect(detailOf('It cannot move.')).toContain(`D${sentence} It cannot move. No server has seen the statement.\0`);
  expect(Buffer.from(staleNotice(aLate(wait))).toString()).toContain(`acknowledged writes: ${sentence}\0`);
});

test('what an operator sees of it', () => {
  const late = aLate({ why: 'behind', behindBytes: 60, word: { written: 100, timeline: 3 } });
  expect(shownWait(late, true)).toEqual({
    since: 5,
    scope: 'proxy',
    member: 'pg-2',
    reason: 'behind',
    primary: 'pg-1',
    mustShow: { position: 100, timeline: 3 },
    behindBytes: 60,
    isLate: true,
    why: whyLate(late),
  });
});
