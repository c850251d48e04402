// The part of a fake PostgreSQL that sessions can move to and from: it lets every client in, answers what Pointsman
// asks about a session without state, and every other statement as a query that selects one.
import type { Socket } from 'node:net';
import { encodeErrorResponse } from '../../../src/wire/messages/error-response.ts';
import {
  AUTHENTICATION_OK,
  COMMAND_COMPLETE,
  aMessage,
  aNumber,
  parameterStatus,
  readyForQuery,
} from '../sockets/messages.ts';

const WELCOME = [AUTHENTICATION_OK, parameterStatus('server_version', '16.1')];
/** It is always the primary of the same timeline. */
const WAL = {
  written: '50332000',
  file: '000000010000000000000003',
  page: '8192',
  segment: '16777216',
  recovered: null,
  ended: '740',
  below: '751',
};
const SETTINGS = { settings: null, reading: null, privileged: null, wal_writer_delay: '200' };
/** The state of every session; `session_user` is added. */
const STATE = {
  custom: null,
  named: null,
  unclear: null,
  prepared: null,
  role: 'none',
  identity: '5.10.10',
  listening: null,
  cursors: null,
  advisory: 0,
  temporary: 0,
  slots: 0,
  search_path: 'public',
};
const FIRST = 8;

const CANCELED = encodeErrorResponse({ severity: 'ERROR', sqlState: '57014', message: 'canceled' });

interface MovableOptions {
  /** BackendKeyData for its client: the key of its cancel requests. Undefined: none. */
  readonly key: Buffer | undefined;
  /** A cancel request hits the first question to each session. */
  readonly cancelsFirst: boolean;
  /** All transactions have ended that another such server may show. */
  readonly isAhead: boolean;
}

export function serveMovable(socket: Socket, user: string, { key, cancelsFirst, isAhead }: MovableOptions): void {
  let rest = Buffer.alloc(0);
  let isStarting = true;
  let sql = '';
  let isCancelDue = cancelsFirst;
  let isSkipping = false;
  const answers: Record<string, () => Buffer> = {
    P: () => aMessage('1'),
    B: () => aMessage('2'),
    E: () => Buffer.concat([rowFor(sql, user, isAhead ? { ...WAL, ended: WAL.below } : WAL), COMMAND_COMPLETE]),
    C: () => aMessage('3'),
    S: () => readyForQuery('I'),
    Q: () => Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]),
  };
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    const replies: Buffer[] = [];
    for (;;) {
      const header = isStarting ? 0 : 1;
      if (rest.length < header + 4) break;
      const end = header + rest.readInt32BE(header);
      if (end < header + 4) return void socket.destroy();
      if (rest.length < end) break;
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      if (isStarting) {
        if (message.length < FIRST || message.readUInt16BE(4) !== 3) return void socket.end('N');
        isStarting = false;
        replies.push(...WELCOME, ...(key === undefined ? [] : [key]), readyForQuery('I'));
        continue;
      }
      const type = String.fromCharCode(message[0] ?? 0);
      if (type === 'X') return void socket.end(Buffer.concat(replies));
      if (type === 'P') sql = message.toString('latin1');
      if (isCancelDue && sql.includes("'session_user'")) {
        isCancelDue = false;
        isSkipping = true;
        replies.push(Buffer.from(CANCELED));
      }
      if (type === 'S') isSkipping = false;
      if (isSkipping) continue;
      replies.push(answers[type]?.() ?? Buffer.alloc(0));
    }
    if (socket.writable) socket.write(Buffer.concat(replies));
    return undefined;
  });
  socket.on('end', () => socket.end());
}

function rowFor(sql: string, user: string, wal: typeof WAL): Buffer {
  if (sql.includes("'privileged'")) return dataRow(Buffer.from(JSON.stringify(SETTINGS)).toString('base64'));
  const asksState = sql.includes("'session_user'");
  if (asksState) {
    const document = JSON.stringify({ ...STATE, wal, session_user: user });
    return dataRow(Buffer.from(document).toString('base64'));
  }
  if (sql.includes("current_setting('role'), session_user")) {
    return dataRow('none', user, 'public', '5.10.10', JSON.stringify(wal));
  }
  return sql.includes('pg_walfile_name') ? dataRow(JSON.stringify(wal)) : Buffer.alloc(0);
}

function dataRow(...values: readonly string[]): Buffer {
  const fields = values.flatMap((value) => [aNumber(Buffer.byteLength(value)), Buffer.from(value)]);
  return aMessage('D', Buffer.concat([Buffer.of(0, values.length), ...fields]));
}
