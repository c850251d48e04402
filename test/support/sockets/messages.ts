// Messages of the PostgreSQL protocol as they follow the startup packet, built by hand: independent of src/wire.

export function aMessage(type: string, body: Uint8Array = new Uint8Array(0)): Buffer {
  const header = Buffer.alloc(5);
  header.write(type, 0, 'latin1');
  header.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([header, body]);
}

export function aNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export const AUTHENTICATION_OK = aMessage('R', aNumber(0));
export const AUTHENTICATION_SASL = aMessage('R', Buffer.concat([aNumber(10), Buffer.from('SCRAM-SHA-256\0\0')]));

export function readyForQuery(status: string): Buffer {
  return aMessage('Z', Buffer.from(status));
}

export function parameterStatus(name: string, value: string): Buffer {
  return aMessage('S', Buffer.from(`${name}\0${value}\0`));
}

export function backendKeyData(processId: number, secret: Uint8Array): Buffer {
  return aMessage('K', Buffer.concat([aNumber(processId), secret]));
}

/** An ErrorResponse, or with `N` a NoticeResponse, of fields written letter first. */
export function errorOf(fields: readonly string[], type: 'E' | 'N' = 'E'): Buffer {
  return aMessage(type, Buffer.from(`${fields.join('\0')}\0\0`));
}

export const QUERY = aMessage('Q', Buffer.from('select 1\0'));
export const PARSE = aMessage('P', Buffer.from('\0select 1\0\0\0'));
export const BIND = aMessage('B', Buffer.from('\0\0\0\0\0\0\0\0'));
export const EXECUTE = aMessage('E', Buffer.from('\0\0\0\0\0'));
export const SYNC = aMessage('S');
export const FLUSH = aMessage('H');
export const COPY_DONE = aMessage('c');
export const COPY_FAIL = aMessage('f', Buffer.from('no\0'));
export const COPY_DATA = aMessage('d', Buffer.from('1\n'));
export const COPY_IN_RESPONSE = aMessage('G', Buffer.from([0, 0, 1, 0, 0]));
export const COPY_OUT_RESPONSE = aMessage('H', Buffer.from([0, 0, 1, 0, 0]));
export const COPY_BOTH_RESPONSE = aMessage('W', Buffer.from([0, 0, 0]));
export const COMMAND_COMPLETE = aMessage('C', Buffer.from('SELECT 1\0'));
export const DATA_ROW = aMessage('D', Buffer.from([0, 1, 0, 0, 0, 1, 0x31]));
export const TERMINATE = aMessage('X');
