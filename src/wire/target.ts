// Which pool a StartupMessage of protocol 3 asks for: `app@ro` as the database (also with a literal `%40`), or the startup option
// `-c pointsman.pool=ro`; and the packet without that. What follows the last @ of a database is always a target, known or
// not: who is told that it is unknown learns what is wrong, and a database that is really called `a@b` is reached as `a@b@rw`. Which
// names there are, and what `ro` and `rw` mean, is the caller's to know. A user's name is never read as a target.
import { settingsOf } from './startup-options.ts';

export interface Target {
  readonly name: string;
  /** Where both name one, the database has the last word. */
  readonly from: 'database' | 'options';
}

export interface Asked {
  /** As it is to be forwarded. Undefined: the server takes the user's name for it, as it does for `@ro`. */
  readonly database: string | undefined;
  readonly target: Target | undefined;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const DATABASE = ENCODER.encode('database');
const OPTIONS = ENCODER.encode('options');
const SETTING = 'pointsman.pool';
const PARAMETERS_AT = 8;
const AT_SIGN = 0x40;
/** The @ of a connection URI that nobody decoded. */
const ENCODED_AT_SIGN = [0x25, 0x34, 0x30];

/** Bytes of the packet. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export function readTarget(packet: Uint8Array): Asked {
  const { database, suffix, options } = layoutOf(packet);
  const name = database === undefined ? '' : textOf(packet, { ...database, to: suffix?.from ?? database.to });
  // As in PostgreSQL, the last setting of a name counts.
  const setting = options.at(-1);
  let target: Target | undefined;
  if (suffix !== undefined) target = { name: textOf(packet, suffix.name), from: 'database' };
  else if (setting !== undefined) target = { name: setting.value, from: 'options' };
  return { database: name === '' ? undefined : name, target };
}

/** The packet to forward: nothing that names a target, every other byte as it was. The same packet where it names none. */
export function withoutTarget(packet: Uint8Array): Uint8Array {
  const { suffix, options } = layoutOf(packet);
  const cuts: Span[] = suffix === undefined ? [...options] : [...options, suffix];
  if (cuts.length === 0) return packet;
  cuts.sort((one, other) => one.from - other.from);
  const forwarded = new Uint8Array(packet.length);
  let read = 0;
  let length = 0;
  for (const { from, to } of [...cuts, { from: packet.length, to: packet.length }]) {
    const kept = packet.subarray(read, from);
    forwarded.set(kept, length);
    length += kept.length;
    read = to;
  }
  new DataView(forwarded.buffer).setInt32(0, length);
  return forwarded.subarray(0, length);
}

interface Layout {
  readonly database: Span | undefined;
  /** From the separator on, which `name` leaves out. */
  readonly suffix: (Span & { readonly name: Span }) | undefined;
  readonly options: readonly (Span & { readonly value: string })[];
}

function layoutOf(packet: Uint8Array): Layout {
  const { database, options: start } = valuesOf(packet);
  const suffix = database === undefined ? undefined : suffixOf(packet, database);
  const settings = start === undefined ? [] : settingsOf(packet.subarray(start.from, start.to), SETTING);
  const shift = start?.from ?? 0;
  return {
    database,
    suffix,
    options: settings.map(({ value, from, to }) => ({ value, from: from + shift, to: to + shift })),
  };
}

interface Values {
  readonly database: Span | undefined;
  readonly options: Span | undefined;
}

const NO_VALUES: Values = { database: undefined, options: undefined };

/** Where their values stand, the last of a name; nothing of a packet that PostgreSQL refuses for its layout. */
function valuesOf(packet: Uint8Array): Values {
  if (packet[4] !== 0 || packet[5] !== 3) return NO_VALUES;
  let database: Span | undefined;
  let options: Span | undefined;
  let at = PARAMETERS_AT;
  while (at < packet.length && packet[at] !== 0) {
    const nameEnd = packet.indexOf(0, at);
    const valueEnd = nameEnd === -1 ? -1 : packet.indexOf(0, nameEnd + 1);
    if (valueEnd === -1) return NO_VALUES;
    const value = { from: nameEnd + 1, to: valueEnd };
    if (stands(DATABASE, packet, at, nameEnd)) database = value;
    else if (stands(OPTIONS, packet, at, nameEnd)) options = value;
    at = valueEnd + 1;
  }
  return at === packet.length - 1 ? { database, options } : NO_VALUES;
}

function stands(name: Uint8Array, packet: Uint8Array, from: number, to: number): boolean {
  return to - from === name.length && name.every((byte, index) => packet[from + index] === byte);
}

function suffixOf(packet: Uint8Array, database: Span): Layout['suffix'] {
  for (let at = database.to - 1; at >= database.from; at -= 1) {
    const length = separatorLength(packet, at);
    if (length > 0) return { from: at, to: database.to, name: { from: at + length, to: database.to } };
  }
  return undefined;
}

function separatorLength(packet: Uint8Array, at: number): number {
  if (packet[at] === AT_SIGN) return 1;
  return ENCODED_AT_SIGN.every((byte, index) => packet[at + index] === byte) ? ENCODED_AT_SIGN.length : 0;
}

function textOf(packet: Uint8Array, { from, to }: Span): string {
  return DECODER.decode(packet.subarray(from, to));
}
