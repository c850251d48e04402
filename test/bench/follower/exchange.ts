// The exchanges of the benchmark's client and server: two of the simple query protocol, one small, one of many rows.
import { COMMAND_COMPLETE, aMessage, readyForQuery } from '../../support/sockets/messages.ts';

const ROW_DESCRIPTION = aMessage('T', Buffer.concat([Buffer.from([0, 1]), Buffer.from('one\0'), Buffer.alloc(18)]));
const SMALL_ROW = aMessage('D', Buffer.from([0, 1, 0, 0, 0, 1, 0x31]));
const ROW = aMessage('D', Buffer.alloc(95));
const END = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);

export interface Exchange {
  readonly name: string;
  readonly query: Buffer;
  readonly reply: Buffer;
}

/** All queries have the same length, so that the server needs no parser. */
export const EXCHANGES: readonly Exchange[] = [
  {
    name: 'one row',
    query: aMessage('Q', Buffer.from('select 1\0')),
    reply: Buffer.concat([ROW_DESCRIPTION, SMALL_ROW, END]),
  },
  {
    name: '1000 rows of 100 bytes',
    query: aMessage('Q', Buffer.from('select n\0')),
    reply: Buffer.concat([ROW_DESCRIPTION, ...Array.from({ length: 1000 }, () => ROW), END]),
  },
];
