// Encodes the messages of a server (protocol, Message Formats). A NUL in outside text becomes a space, so it stays in
// its field. The texts of ErrorResponse are in a file of their own.

// The kinds of AuthenticationRequest.
export const OK = 0;
export const MD5 = 5;
export const SASL = 10;
export const SASL_CONTINUE = 11;
export const SASL_FINAL = 12;

/** The object ids of pg_type. */
export const TYPE_IDS = { text: 25, int4: 23, int8: 20, numeric: 1700 } as const;
/** Bytes of a value; -1: of any length. */
const TYPE_SIZES = { text: -1, int4: 4, int8: 8, numeric: -1 } as const;
const ANY_MODIFIER = -1;

export interface RowColumn {
  readonly name: string;
  readonly type: keyof typeof TYPE_IDS;
}

/** A null is SQL's NULL. */
export type Value = string | number | null;

/** Outside of a transaction block, within one, or within one that has failed. */
export type BlockStatus = 'idle' | 'in_transaction' | 'failed';

const STATUS_LETTERS = { idle: 'I', in_transaction: 'T', failed: 'E' } as const;

const ENCODER = new TextEncoder();

export const AUTHENTICATION_OK = message('R', [int32(OK)]);
export const EMPTY_QUERY = message('I');
export const PARSE_COMPLETE = message('1');
export const BIND_COMPLETE = message('2');
export const CLOSE_COMPLETE = message('3');
export const NO_DATA = message('n');
export const PORTAL_SUSPENDED = message('s');
/** For a statement without parameters. */
export const NO_PARAMETERS = message('t', [int16(0)]);

export function encodeSaslMechanisms(mechanisms: readonly string[]): Uint8Array {
  return message('R', [int32(SASL), ...mechanisms.map(cString), Uint8Array.of(0)]);
}

export function encodeSaslContinue(data: string): Uint8Array {
  return message('R', [int32(SASL_CONTINUE), ENCODER.encode(data)]);
}

export function encodeSaslFinal(data: string): Uint8Array {
  return message('R', [int32(SASL_FINAL), ENCODER.encode(data)]);
}

export function encodeParameterStatus(name: string, value: string): Uint8Array {
  return message('S', [cString(name), cString(value)]);
}

/** Protocol 3.0 is the newest; `unknown`: options of the startup message that the server does not know. */
export function encodeNegotiateProtocolVersion(unknown: readonly string[]): Uint8Array {
  return message('v', [int32(0x30000), int32(unknown.length), ...unknown.map(cString)]);
}

export function encodeReadyForQuery(status: BlockStatus): Uint8Array {
  return message('Z', [ENCODER.encode(STATUS_LETTERS[status])]);
}

export function encodeCommandComplete(tag: string): Uint8Array {
  return message('C', [cString(tag)]);
}

/** Every column in text format. */
export function encodeRowDescription(columns: readonly RowColumn[]): Uint8Array {
  const fields = columns.flatMap(({ name, type }) => [
    cString(name),
    // The column belongs to no table.
    int32(0),
    int16(0),
    int32(TYPE_IDS[type]),
    int16(TYPE_SIZES[type]),
    int32(ANY_MODIFIER),
    int16(0),
  ]);
  return message('T', [int16(columns.length), ...fields]);
}

/** Every value in text format. */
export function encodeDataRow(values: readonly Value[]): Uint8Array {
  const fields = values.flatMap((value) => {
    if (value === null) return [int32(-1)];
    const text = ENCODER.encode(withoutNul(String(value)));
    return [int32(text.length), text];
  });
  return message('D', [int16(values.length), ...fields]);
}

/** Those of a client have the same form. */
export function message(type: string, parts: readonly Uint8Array[] = []): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.length, 4);
  return joined([ENCODER.encode(type), int32(size), ...parts]);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function int16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value);
}

export function int32(value: number): Uint8Array {
  return Uint8Array.of(value >> 24, value >> 16, value >> 8, value);
}

export function cString(text: string): Uint8Array {
  return ENCODER.encode(`${withoutNul(text)}\0`);
}

function withoutNul(text: string): string {
  return text.replaceAll('\0', ' ');
}
