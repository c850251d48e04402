// The part of a fake PostgreSQL that sessions can move to and from: it lets every client in, answers what Pointsman
// asks about a session without state, and every other statement as a query that selects one. It knows the beginning and
// the end of a transaction, and whether there is an unnamed statement.
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
/** Where the body of a message begins. */
const FIRST_NAME = 5;
/** Where the name is in a Describe. */
const DESCRIBED = 6;

const CANCELED = encodeErrorResponse({ severity: 'ERROR', sqlState: '57014', message: 'canceled' });

const ABORTED = encodeErrorResponse({ severity: 'ERROR', sqlState: '25P02', message: 'aborted' });
const UNKNOWN = encodeErrorResponse({ severity: 'ERROR', sqlState: '26000', message: 'no such statement' });
const WRONG = encodeErrorResponse({ severity: 'ERROR', sqlState: '42601', message: 'syntax error' });
const ENDS = /^(?:commit|rollback)/i;

interface MovableOptions {
  /** BackendKeyData for its client: the key of its cancel requests. Undefined: none. */
  readonly key: Buffer | undefined;
  /** A cancel request hits so many questions to each session. */
  readonly cancels: number;
  /** Each session has this, too. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Its TimeZone, if it tells one. */
  readonly timeZone: string | undefined;
  /** All transactions have ended that another such server may show. */
  readonly isAhead: boolean;
}

export function serveMovable(
  socket: Socket,
  user: string,
  { key, cancels, isAhead, state, timeZone }: MovableOptions,
): void {
  let rest = Buffer.alloc(0);
  let isStarting = true;
  let sql = '';
  let cancelsDue = cancels;
  let isSkipping = false;
  let status = 'I';
  let hasUnnamed = false;
  const run = (): Buffer => {
    status = statusAfter(sql, status);
    return COMMAND_COMPLETE;
  };
  const fail = (error: Uint8Array): Buffer => {
    isSkipping = true;
    if (status === 'T') status = 'E';
    return Buffer.from(error);
  };
  const answers: Record<string, (message: Buffer) => Buffer> = {
    P: () => aMessage('1'),
    B: (message) => (isOfUnnamed(message) && !hasUnnamed ? fail(UNKNOWN) : aMessage('2')),
    // No parameters, and no rows.
    D: (message) =>
      message.includes('_pointsman: ') || (!hasUnnamed && message[DESCRIBED] === 0)
        ? fail(UNKNOWN)
        : Buffer.concat([aMessage('t', Buffer.alloc(2)), aMessage('n')]),
    E: () =>
      Buffer.concat([
        rowFor(sql, { ...state, session_user: user }, isAhead ? { ...WAL, ended: WAL.below } : WAL),
        run(),
      ]),
    C: () => aMessage('3'),
    S: () => readyForQuery(status),
    Q: () => {
      if (status === 'E' && !ENDS.test(sql)) return Buffer.from(ABORTED);
      if (sql !== 'wrong') return run();
      if (status === 'T') status = 'E';
      return Buffer.from(WRONG);
    },
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
        replies.push(
          ...WELCOME,
          ...(timeZone === undefined ? [] : [parameterStatus('TimeZone', timeZone)]),
          ...(key === undefined ? [] : [key]),
          readyForQuery('I'),
        );
        continue;
      }
      const type = String.fromCharCode(message[0] ?? 0);
      if (type === 'X') return void socket.end(Buffer.concat(replies));
      if (type === 'P' || type === 'Q') sql = textOf(type, message);
      if (type === 'P' && cancelsDue > 0 && sql.includes("'session_user'")) {
        cancelsDue -= 1;
        replies.push(fail(CANCELED));
      }
      if (type === 'S') isSkipping = false;
      if (isSkipping) continue;
      if (type === 'Q') hasUnnamed = false;
      else if (type === 'P' && message[FIRST_NAME] === 0) hasUnnamed = true;
      replies.push(answers[type]?.(message) ?? Buffer.alloc(0));
      if (type === 'Q') replies.push(readyForQuery(status));
    }
    if (socket.writable) socket.write(Buffer.concat(replies));
    return undefined;
  });
  socket.on('end', () => socket.end());
}

/** A Bind. */
function isOfUnnamed(message: Buffer): boolean {
  return message[message.indexOf(0, FIRST_NAME) + 1] === 0;
}

/** The SQL of a Query or a Parse. */
function textOf(type: string, message: Buffer): string {
  return message.toString('latin1', type === 'Q' ? FIRST_NAME : 1 + message.indexOf(0, FIRST_NAME), message.length - 1);
}

function statusAfter(sql: string, before: string): string {
  if (ENDS.test(sql)) return 'I';
  return /^begin/i.test(sql) ? 'T' : before;
}

function rowFor(sql: string, state: Readonly<Record<string, unknown>>, wal: typeof WAL): Buffer {
  if (sql.includes("'privileged'")) return dataRow(Buffer.from(JSON.stringify(SETTINGS)).toString('base64'));
  const asksState = sql.includes("'session_user'");
  if (asksState) {
    const document = JSON.stringify({ ...STATE, wal, ...state });
    return dataRow(Buffer.from(document).toString('base64'));
  }
  if (sql.includes("current_setting('role'), session_user")) {
    return dataRow('none', String(state['session_user']), 'public', '5.10.10', JSON.stringify(wal));
  }
  return sql.includes('pg_walfile_name') ? dataRow(JSON.stringify(wal)) : Buffer.alloc(0);
}

function dataRow(...values: readonly string[]): Buffer {
  const fields = values.flatMap((value) => [aNumber(Buffer.byteLength(value)), Buffer.from(value)]);
  return aMessage('D', Buffer.concat([Buffer.of(0, values.length), ...fields]));
}
