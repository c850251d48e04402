// Reads the bodies of a server's replies in a conversation of our own. Texts are UTF-8.
import { BodyReader } from '../messages/client-messages.ts';
import { errorField, sqlStateOf } from '../messages/error-fields.ts';
import { beginningOf } from '../../model/printable.ts';

export interface ServerError {
  readonly sqlState: string;
  /** One printable line of what the server wrote, in its language. */
  readonly message: string;
  readonly isFatal: boolean;
  /** Our name for the request that failed. */
  readonly request: string;
}

export interface Description {
  readonly parameterTypes: readonly number[];
  /** Each with name, type and modifier of the type. Undefined: no rows. */
  readonly resultColumns: readonly string[] | undefined;
}

export type Row = readonly (string | null)[];

const DECODER = new TextDecoder();
/** Characters. */
const LONGEST_MESSAGE = 500;

/** `V` is never translated. */
export function serverError(body: Uint8Array, request: string): ServerError {
  const field = (type: string): string | undefined => errorField(body, 0, body.length, type);
  const severity = field('V') ?? field('S');
  return {
    sqlState: sqlStateOf(body, 0, body.length),
    message: beginningOf(field('M') ?? '', LONGEST_MESSAGE),
    isFatal: severity === 'FATAL' || severity === 'PANIC',
    request,
  };
}

/** DataRow. Undefined: incomplete. */
export function rowOf(body: Uint8Array): Row | undefined {
  const reader = new BodyReader(body);
  const count = reader.int16() ?? 0;
  const row: (string | null)[] = [];
  for (let column = 0; column < count; column += 1) {
    const size = reader.int32();
    if (size === -1) {
      row.push(null);
      continue;
    }
    const value = size === undefined ? undefined : reader.bytes(size);
    if (value === undefined) return undefined;
    row.push(DECODER.decode(value));
  }
  return row;
}

/** ParameterDescription. */
export function typesOf(body: Uint8Array | undefined): readonly number[] {
  if (body === undefined) return [];
  const reader = new BodyReader(body);
  const count = reader.int16() ?? 0;
  return Array.from({ length: count }, () => (reader.int32() ?? 0) >>> 0);
}

/** RowDescription: name, table, column, type, size, modifier, format. */
export function columnsOf(body: Uint8Array | undefined): readonly string[] {
  if (body === undefined) return [];
  const reader = new BodyReader(body);
  const count = reader.int16() ?? 0;
  return Array.from({ length: count }, () => {
    const name = reader.text();
    reader.bytes(6);
    const type = (reader.int32() ?? 0) >>> 0;
    reader.bytes(2);
    const modifier = reader.int32();
    reader.bytes(2);
    return `${name}:${type}:${modifier}`;
  });
}
