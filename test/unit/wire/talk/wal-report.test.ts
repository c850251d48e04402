// The words of a server about its WAL. Real servers answer in test/integration/wire/wal-question.test.ts.
import { expect, test } from 'vitest';
import { readWalReport } from '../../../../src/wire/talk/wal-report.ts';

const IDS = { ended: '740', below: '751' };
const TRANSACTIONS = { allEndedBelow: 740, allVisibleBelow: 751 };
const PRIMARY = { written: '50332000', file: '00000002000000000000002F', page: '8192', segment: '16777216', ...IDS };

function writtenOf(written: number): unknown {
  const report = readWalReport({ ...PRIMARY, written: `${written}` });
  return report?.kind === 'primary' ? report.written : undefined;
}

test('a standby names the position that it has replayed', () => {
  const report = readWalReport({ replayed: '50331648', ...IDS });
  expect(report).toEqual({ kind: 'standby', replayed: 50_331_648, transactions: TRANSACTIONS });
});

test('a primary names the end of its WAL and its timeline', () => {
  const report = readWalReport(PRIMARY);
  expect(report).toEqual({ kind: 'primary', timeline: 2, written: 50_332_000, transactions: TRANSACTIONS });
  const later = readWalReport({ ...PRIMARY, file: '0000001A000000000000002F' });
  expect(later).toMatchObject({ timeline: 26 });
});

test('a primary that was promoted names the position that it had replayed until then', () => {
  expect(readWalReport({ ...PRIMARY, recovered: '50331000' })).toMatchObject({ recovered: 50_331_000 });
  expect(readWalReport({ ...PRIMARY, recovered: null })).toMatchObject({ recovered: undefined });
});

test('the header of a page without a record counts as nothing', () => {
  const segment = 3 * 16_777_216;
  expect(writtenOf(segment + 8192 + 24)).toBe(segment + 8192);
  expect(writtenOf(segment + 40)).toBe(segment);
  expect(writtenOf(segment + 24)).toBe(segment);
  expect(writtenOf(segment + 8192 + 40)).toBe(segment + 8192 + 40);
  expect(writtenOf(segment + 48)).toBe(segment + 48);
});

test.each([
  ['no document', undefined],
  ['text', 'replayed'],
  ['null', null],
  ['a position in a list', { replayed: ['50331648'], ...IDS }],
  ['a position with an exponent', { replayed: '5e7', ...IDS }],
  ['a file in a list', { ...PRIMARY, file: ['00000002000000000000002F'] }],
  ['a file with a path', { ...PRIMARY, file: 'x/00000002000000000000002F' }],
  ['a standby that has replayed nothing', { replayed: null, ...IDS }],
  ['a position that is no number', { replayed: '0/3000000', ...IDS }],
  ['a position beyond what a number holds', { replayed: '9007199254740993', ...IDS }],
  ['no transaction ids', { replayed: '50331648' }],
  ['a negative id', { replayed: '50331648', ended: '-1', below: '5' }],
  ['no id of the newest transaction', { replayed: '50331648', ended: '5' }],
  ['a primary without a position', { ...PRIMARY, written: undefined }],
  ['a primary without a file', { ...PRIMARY, file: null }],
  ['a primary on no timeline', { ...PRIMARY, file: '00000000000000000000002F' }],
  ['a primary with a file of another name', { ...PRIMARY, file: '000000020000000000000002F.partial' }],
  ['a primary without its page size', { ...PRIMARY, page: undefined }],
  ['a primary without its segment size', { ...PRIMARY, segment: undefined }],
])('unknown: %s', (_, value) => {
  expect(readWalReport(value)).toBeUndefined();
});
