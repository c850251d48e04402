// A conversation of our own with a server: the form of its steps, and the bodies of the replies. Texts are UTF-8.
import { BodyReader } from '../messages/client-messages.ts';
import { errorField, isFatal, sqlStateOf } from '../messages/error-fields.ts';
import { beginningOf } from '../../model/printable.ts';

/** The answer to the next bytes of the server. `Done`: the outcome of the conversation. */
export type TalkStep<Done> =
  | { readonly kind: 'wait' }
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  | ({ readonly kind: 'done' } & Done);

/** The outcome on a new connection, whose client has heard nothing yet. */
export interface TalkOutcome<Result> {
  readonly result: Result;
  /** As the server has told them since the start, by name. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Bytes after the answers: for the client. */
  readonly rest: Uint8Array;
}

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

export function serverError(body: Uint8Array, request: string): ServerError {
  return {
    sqlState: sqlStateOf(body, 0, body.length),
    message: beginningOf(errorField(body, 0, body.length, 'M') ?? '', LONGEST_MESSAGE),
    isFatal: isFatal(body, 0, body.length),
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
