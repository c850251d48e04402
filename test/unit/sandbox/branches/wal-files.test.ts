// Which WAL files hold the WAL up to a position. The names and the choice of timelines are PostgreSQL's.
import { describe, expect, it } from 'vitest';
import { formatLsn } from '../../../../src/model/lsn.ts';
import {
  SEGMENT_BYTES,
  firstSegment,
  hasPosition,
  historyFile,
  lastSegment,
  lineageAt,
  parseHistory,
  segmentFile,
  timelineOfSegment,
} from '../../../../src/sandbox/branches/wal-files.ts';

const MB = 1024 * 1024;
/** Timeline 1 ended in segment 2, timeline 2 in segment 5; 3 is the present one. */
const LINEAGE = {
  timeline: 3,
  ended: [
    { timeline: 1, endsAt: 40 * MB },
    { timeline: 2, endsAt: 90 * MB },
  ],
};

describe('names', () => {
  it('positions are written as PostgreSQL writes them', () => {
    expect([0, 0x30_19_9b0, 2 ** 32 + 0xab].map(formatLsn)).toEqual(['0/0', '0/30199B0', '1/AB']);
  });

  it('a segment file has timeline and number', () => {
    expect(segmentFile(1, 3)).toBe('000000010000000000000003');
    expect(segmentFile(26, 257)).toBe('0000001A0000000100000001');
    expect(historyFile(26)).toBe('0000001A.history');
  });

  it('a position on the boundary of segments needs the one before, and begins the one after', () => {
    expect([lastSegment(3 * SEGMENT_BYTES), firstSegment(3 * SEGMENT_BYTES)]).toEqual([2, 3]);
    expect([lastSegment(3 * SEGMENT_BYTES + 1), firstSegment(3 * SEGMENT_BYTES + 1)]).toEqual([3, 3]);
  });
});

describe('timelines', () => {
  it('reads the history file of a server', () => {
    const text = '1\t0/2800000\tno recovery target specified\n\n2\t0/5A00000\tno recovery target specified\n';
    expect(parseHistory(text)).toEqual(LINEAGE.ended);
  });

  it('a position belongs to the timeline that was the present one there', () => {
    expect(lineageAt(LINEAGE, 40 * MB)).toEqual({ timeline: 1, ended: [] });
    expect(lineageAt(LINEAGE, 40 * MB + 1)).toEqual({ timeline: 2, ended: LINEAGE.ended.slice(0, 1) });
    expect(lineageAt(LINEAGE, 200 * MB)).toEqual(LINEAGE);
  });

  it('a segment in which a timeline ends is read from the file of the next one', () => {
    expect([0, 1, 2, 3, 4, 5, 6].map((segment) => timelineOfSegment(LINEAGE, segment))).toEqual([1, 1, 2, 2, 2, 3, 3]);
  });

  it('a base copy beyond the end of its timeline is of no use', () => {
    expect(hasPosition(LINEAGE, 1, 40 * MB)).toBe(true);
    expect(hasPosition(LINEAGE, 1, 41 * MB)).toBe(false);
    expect(hasPosition(LINEAGE, 3, 500 * MB)).toBe(true);
    expect(hasPosition(LINEAGE, 4, 1)).toBe(false);
  });
});
