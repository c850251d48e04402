import { expect, test } from 'vitest';
import { parsePostmasterFile } from '../../../../src/sandbox/postgres/postmaster-file.ts';

const LINES = ['4711', '/tmp/x/data', '1789000000', '20001', '', '127.0.0.1', '  2210153    491532', 'ready   ', ''];

test('a server that accepts connections', () => {
  expect(parsePostmasterFile(LINES.join('\n'))).toEqual({
    pid: 4711,
    dataDirectory: '/tmp/x/data',
    sharedMemoryId: 491_532,
    isReady: true,
  });
});

test('a server that starts, and one that has only begun to write the file', () => {
  expect(parsePostmasterFile(LINES.with(7, 'starting').join('\n'))).toMatchObject({ isReady: false });
  expect(parsePostmasterFile(LINES.with(7, 'standby ').join('\n'))).toMatchObject({ isReady: false });
  expect(parsePostmasterFile(LINES.slice(0, 5).join('\n'))).toMatchObject({
    pid: 4711,
    sharedMemoryId: undefined,
    isReady: false,
  });
  expect(parsePostmasterFile('')).toBeUndefined();
  // A single-user backend writes its number with a minus.
  expect(parsePostmasterFile(LINES.with(0, '-4711').join('\n'))).toBeUndefined();
});
