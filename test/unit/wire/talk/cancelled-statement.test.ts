// The error of a statement that was cancelled is replaced, wherever the chunks are cut; all else passes unchanged.
import { describe, expect, test } from 'vitest';
import { CancelledStatement } from '../../../../src/wire/talk/cancelled-statement.ts';
import { COMMAND_COMPLETE, DATA_ROW, errorOf, readyForQuery } from '../../../support/sockets/messages.ts';

const OURS = errorOf(['SERROR', 'C40001', 'Magain']);
const CANCELED = errorOf(['SERROR', 'VERROR', 'C57014', 'Mcanceling statement due to user request']);
const READY = readyForQuery('E');
const NO_STANDBY = errorOf(['SWARNING', 'VWARNING', 'C01000', 'Mcanceling wait for synchronous replication'], 'N');

/** All that the client reads. */
function read(reader: CancelledStatement, ...chunks: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    chunks.map((chunk) => {
      const own = Uint8Array.from(chunk);
      const passing = Uint8Array.from(reader.take(own) ?? []);
      // The chunk is valid only during the call.
      own.fill(0);
      return passing;
    }),
  );
}

function everyCut(bytes: Buffer): readonly (readonly Buffer[])[] {
  const single = Array.from({ length: bytes.length }, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [...single, Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))];
}

test.each([
  ['for it', [CANCELED, READY], [OURS, READY]],
  ['behind rows and notices', [DATA_ROW, errorOf(['SNOTICE', 'C00000', 'Mso'], 'N'), CANCELED, READY], undefined],
  [
    'once',
    [CANCELED, READY, errorOf(['SERROR', 'C25P02']), CANCELED],
    [OURS, READY, errorOf(['SERROR', 'C25P02']), CANCELED],
  ],
])('the client reads our error %s', (_, parts, expected) => {
  const wanted = expected ?? parts.map((part) => (part === CANCELED ? OURS : part));
  for (const chunks of everyCut(Buffer.concat(parts))) {
    const reader = new CancelledStatement(OURS);
    expect(read(reader, ...chunks)).toEqual(Buffer.concat(wanted));
    expect([reader.hasTold(), reader.isUnsure()]).toEqual([true, false]);
  }
});

test.each([
  ['a success', [DATA_ROW, COMMAND_COMPLETE, readyForQuery('I')]],
  ['another error', [errorOf(['SERROR', 'VERROR', 'C22012', 'Mdivision by zero']), READY]],
  ['the end of the session', [errorOf(['SFATAL', 'VFATAL', 'C57014', 'Mgone'])]],
  ['an error that is too long to keep', [errorOf(['SERROR', 'C57014', `M${'x'.repeat(70_000)}`]), READY]],
])('%s passes as it is', (_, parts) => {
  const bytes = Buffer.concat(parts);
  const cuts = bytes.length < 1_000 ? everyCut(bytes) : [[bytes.subarray(0, 20), bytes.subarray(20)]];
  for (const chunks of cuts) {
    const reader = new CancelledStatement(OURS);
    expect(read(reader, ...chunks)).toEqual(bytes);
    expect([reader.hasTold(), reader.isUnsure()]).toEqual([false, false]);
  }
});

describe('a commit that stopped waiting for its standby', () => {
  test('its client reads nothing from the warning on', () => {
    const answer = Buffer.concat([DATA_ROW, NO_STANDBY, COMMAND_COMPLETE, readyForQuery('I')]);
    for (const chunks of everyCut(answer)) {
      const reader = new CancelledStatement(OURS);
      expect(read(reader, ...chunks)).toEqual(DATA_ROW);
      expect([reader.hasTold(), reader.isUnsure()]).toEqual([false, true]);
    }
  });
});

test('chunks without a change are passed on without a copy', () => {
  const chunk = Buffer.concat([DATA_ROW, COMMAND_COMPLETE]);
  expect(new CancelledStatement(OURS).take(chunk)).toBe(chunk);
});
