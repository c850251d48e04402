import { expect, test } from 'vitest';
import { MaskedRows } from '../../../src/verifiers/masked-rows.ts';
import { aMessage, aNumber, readyForQuery } from '../../support/sockets/messages.ts';

function aRow(...values: readonly (string | null)[]): Buffer {
  const fields = values.flatMap((value) =>
    value === null ? [aNumber(-1)] : [aNumber(Buffer.byteLength(value)), Buffer.from(value)],
  );
  return aMessage('D', Buffer.concat([Buffer.of(0, values.length), ...fields]));
}

const ROWS = [['secret-1'], ['', null, 'secret-ü', ''], [null], [], ['secret-2', 'secret-3']];
const MASKED = [['xxxxxxxx'], ['', null, 'xxxxxxxxx', ''], [null], [], ['xxxxxxxx', 'xxxxxxxx']];
const OTHER = aMessage('S', Buffer.from('secret-name\0'));

test('the values are taken, and letters stand in their place, however the stream is cut', () => {
  const stream = Buffer.concat([OTHER, ...ROWS.map((row) => aRow(...row)), aMessage('2'), readyForQuery('I')]);
  const seen = Buffer.concat([OTHER, ...MASKED.map((row) => aRow(...row)), aMessage('2'), readyForQuery('I')]);
  for (let size = 1; size <= stream.length; size += 1) {
    const masked = new MaskedRows();
    const chunks: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) {
      const chunk = Buffer.from(stream.subarray(at, at + size));
      masked.take(chunk);
      chunks.push(chunk);
    }
    expect(Buffer.concat(chunks)).toEqual(seen);
    expect(masked.rows().map((row) => row.map((value) => value?.toString() ?? null))).toEqual(ROWS);
    expect(masked.rows()).toEqual([]);
  }
});

test.each([aMessage('D', Buffer.from([0, 1, 0x7f, 255, 255, 255, 1])), aMessage('D', Buffer.from([0])), aMessage('D')])(
  'a row that is broken harms nothing',
  (broken) => {
    const masked = new MaskedRows();
    masked.take(Buffer.concat([broken, aRow('secret')]));
    expect(masked.rows().at(-1)).toEqual([Buffer.from('secret')]);
  },
);
