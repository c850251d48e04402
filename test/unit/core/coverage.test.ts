import { describe, expect, it } from 'vitest';
import { coverageOf, flushedAt, proofOf, timelineEnds } from '../../../src/core/coverage.ts';
import type { Coverage, Loss, TimelineEnds, WalSample } from '../../../src/core/coverage.ts';

const RUN = { timeline: 1, startedAt: 'monday' };
const TOLD = { member: 'pg-1', flushedAt: 11_000, run: RUN };
const NEXT = { member: 'pg-2', sample: { at: 30_000, run: { timeline: 2, startedAt: 'sunday' }, bytes: 900 } };
const ENDS: TimelineEnds = { timeline: 2, primary: 'pg-2', ends: new Map([[1, 500]]) };

const sample = (at: number, bytes: number, run = RUN): WalSample => ({ at, run, bytes });
const lossWith = (proof: WalSample | undefined): Loss => ({ told: TOLD, proof, at: 20_000 });
const whyNot = (coverage: Coverage): string => (coverage.kind === 'covered' ? 'covered' : coverage.why);

describe('everything that an answer showed', () => {
  it.each([
    [10, 11_000],
    [200, 11_000],
    [300, 11_000],
    [301, 11_003],
    [10_000, 40_100],
  ])('is on disk after three rounds of the WAL writer, with a delay of %i ms', (delayMs, at) => {
    expect(flushedAt(10_000, delayMs)).toBe(at);
  });
});

describe('the proof', () => {
  it('is the first sample that was asked for when all that the last answer showed was on disk, or later', () => {
    const samples = [sample(14_000, 300), sample(11_000, 200), sample(10_999, 150), sample(9_000, 100)];
    expect(proofOf(TOLD, samples)).toEqual(sample(11_000, 200));
  });

  it('is none without such a sample', () => {
    expect(proofOf(TOLD, [sample(10_999, 150)])).toBeUndefined();
    expect(proofOf(TOLD, [])).toBeUndefined();
  });

  it('is of the same run of the server, on the same timeline', () => {
    const restarted = { timeline: 1, startedAt: 'tuesday' };
    const promoted = { timeline: 2, startedAt: 'monday' };
    expect(proofOf(TOLD, [sample(13_000, 200, promoted), sample(12_000, 200, restarted)])).toBeUndefined();
  });
});

describe('a session whose primary is lost', () => {
  it('is covered when the old timeline ended at the proof or behind it', () => {
    expect(coverageOf(lossWith(sample(12_000, 500)), NEXT, ENDS)).toEqual({ kind: 'covered' });
  });

  it('is not covered when the old timeline ended before it', () => {
    const coverage = coverageOf(lossWith(sample(12_000, 501)), NEXT, ENDS);
    expect(coverage).toEqual({
      kind: 'uncovered',
      why: expect.stringContaining('up to 1 bytes of WAL'),
      mayCome: false,
    });
  });

  it('is not covered when its last answer came within two seconds and the flush before the loss', () => {
    const loss = { told: TOLD, proof: sample(11_000, 400), at: 12_999 };
    expect(coverageOf(loss, NEXT, ENDS)).toMatchObject({ kind: 'uncovered', mayCome: false });
    expect(coverageOf({ ...loss, at: 13_000 }, NEXT, ENDS).kind).toBe('covered');
  });

  it('is not covered without a proof, whatever the history says', () => {
    expect(coverageOf(lossWith(undefined), NEXT, ENDS)).toMatchObject({ kind: 'uncovered', mayCome: false });
  });

  it.each<[string, TimelineEnds | undefined]>([
    ['is not known', undefined],
    ['is that of an older timeline', { ...ENDS, timeline: 1 }],
    ['is that of another primary', { ...ENDS, primary: 'pg-3' }],
    ['does not have the timeline', { ...ENDS, ends: new Map([[3, 700]]) }],
  ])('is not covered yet while the history %s', (_, ends) => {
    const coverage = coverageOf(lossWith(sample(12_000, 400)), NEXT, ends);
    expect(coverage).toMatchObject({ kind: 'uncovered', mayCome: true });
  });

  it('is not covered yet while the next primary has reported no position', () => {
    const coverage = coverageOf(lossWith(sample(12_000, 400)), { member: 'pg-2', sample: undefined }, ENDS);
    expect(coverage).toMatchObject({ kind: 'uncovered', mayCome: true });
  });

  it('is not covered at another member on the same timeline number', () => {
    const next = { member: 'pg-2', sample: { ...NEXT.sample, run: RUN } };
    const coverage = coverageOf(lossWith(sample(12_000, 400)), next, ENDS);
    expect(coverage).toEqual({ kind: 'uncovered', why: 'the next primary is on timeline 1', mayCome: false });
  });

  it('is covered whatever the ends of timelines before its own', () => {
    const onThree = { ...TOLD, run: { timeline: 3, startedAt: 'monday' } };
    const next = { member: 'pg-2', sample: { ...NEXT.sample, run: { timeline: 4, startedAt: 'sunday' } } };
    const ends = new Map([
      [2, 100],
      [3, 500],
    ]);
    const loss = { ...lossWith(sample(12_000, 400, onThree.run)), told: onThree };
    expect(coverageOf(loss, next, { timeline: 4, primary: 'pg-2', ends })).toEqual({ kind: 'covered' });
  });

  it('is not covered in place when its server is on another timeline: the history decides', () => {
    const next = { ...NEXT, member: 'pg-1' };
    const ends = { ...ENDS, primary: 'pg-1' };
    expect(coverageOf(lossWith(sample(12_000, 501)), next, ends).kind).toBe('uncovered');
    expect(coverageOf(lossWith(sample(12_000, 500)), next, ends).kind).toBe('covered');
  });

  it.each<[string, Coverage]>([
    [
      'no WAL position of the lost server is known from after its last answer',
      coverageOf(lossWith(undefined), NEXT, ENDS),
    ],
    [
      'its last answer came too soon before the loss',
      coverageOf({ told: TOLD, proof: sample(11_000, 400), at: 12_999 }, NEXT, ENDS),
    ],
    [
      'the timeline of the next primary is not known',
      coverageOf(lossWith(sample(12_000, 400)), { ...NEXT, sample: undefined }, ENDS),
    ],
    ['the history of timeline 2 is not known', coverageOf(lossWith(sample(12_000, 400)), NEXT, undefined)],
    [
      'the history of timelines does not say where timeline 1 ended',
      coverageOf(lossWith(sample(12_000, 400)), NEXT, { ...ENDS, ends: new Map([[3, 700]]) }),
    ],
  ])('says why: %s', (why, coverage) => {
    expect(whyNot(coverage)).toBe(why);
  });

  it('takes the lowest end on the way to a later timeline', () => {
    const next = { member: 'pg-2', sample: { ...NEXT.sample, run: { timeline: 3, startedAt: 'sunday' } } };
    const ends = {
      timeline: 3,
      primary: 'pg-2',
      ends: new Map([
        [1, 500],
        [2, 450],
      ]),
    };
    expect(coverageOf(lossWith(sample(12_000, 450)), next, ends)).toEqual({ kind: 'covered' });
    expect(coverageOf(lossWith(sample(12_000, 451)), next, ends).kind).toBe('uncovered');
  });
});

describe('a session whose primary comes back on the same timeline', () => {
  const restarted = { timeline: 1, startedAt: 'tuesday' };
  const back = (bytes: number) => ({ member: 'pg-1', sample: { at: 30_000, run: restarted, bytes } });

  it('is covered when the server has its WAL', () => {
    expect(coverageOf(lossWith(sample(12_000, 400)), back(400), undefined)).toEqual({ kind: 'covered' });
  });

  it('is not covered when the server has less WAL than before', () => {
    expect(whyNot(coverageOf(lossWith(sample(12_000, 400)), back(399), undefined))).toContain('less WAL');
  });
});

describe('a history document', () => {
  const lines = [
    { timeline: 1, lsn: 100 },
    { timeline: 2, lsn: 200, newLeader: 'pg-2' },
  ];

  it('gives the end of each older timeline', () => {
    const ends = timelineEnds(lines, 'pg-2', 3, ['pg-2']);
    expect(ends).toEqual({
      timeline: 3,
      primary: 'pg-2',
      ends: new Map([
        [1, 100],
        [2, 200],
      ]),
    });
  });

  it('gives nothing before it has the timeline that ended last', () => {
    expect(timelineEnds(lines, 'pg-2', 4, ['pg-2'])).toBeUndefined();
    expect(timelineEnds([], 'pg-2', 3, ['pg-2'])).toBeUndefined();
  });

  it('gives nothing when another member gave that number to its timeline', () => {
    expect(timelineEnds(lines, 'pg-3', 3, ['pg-3'])).toBeUndefined();
    const silent = [{ timeline: 2, lsn: 200 }];
    expect(timelineEnds(silent, 'pg-2', 3, ['pg-2', 'pg-3'])).toBeUndefined();
    expect(timelineEnds(silent, 'pg-2', 3, ['pg-2'])?.ends.get(2)).toBe(200);
  });

  it('may have a timeline that ended where it began', () => {
    const short = [{ timeline: 1, lsn: 200 }, ...lines.slice(1)];
    expect(timelineEnds(short, 'pg-2', 3, ['pg-2'])?.ends.get(1)).toBe(200);
  });

  it.each([
    ['a position that goes back', [{ timeline: 1, lsn: 300 }, ...lines.slice(1)]],
    ['a timeline twice', [{ timeline: 2, lsn: 100 }, ...lines.slice(1)]],
  ])('gives nothing with %s', (_, wrong) => {
    expect(timelineEnds(wrong, 'pg-2', 3, ['pg-2'])).toBeUndefined();
  });
});
