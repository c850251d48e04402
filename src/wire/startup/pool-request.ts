// The pool that a StartupMessage of protocol 3 requests, and the packet without the request. There are three ways to
// name a pool: `app@ro` as the database (also with a literal `%40`), the startup parameter `pointsman.pool`, and the
// startup option `-c pointsman.pool=ro`. Each packet is walked once, and only the values that are needed become text.
// The part after the last @ of a database is always a pool request, known or not, so that a client with a typing error
// learns of it. A database that is really called `a@b` is reached as `a@b@rw`. The caller knows which pools exist, and
// what `ro` and `rw` mean. A user's name never holds a request.
import { joined } from '../messages/server-messages.ts';
import { settingsOf, type OptionSetting } from './startup-options.ts';

export interface PoolRequest {
  readonly name: string;
  /**
   * If several name a pool, the first of these counts. The last two have this order because PostgreSQL applies options
   * before parameters.
   */
  readonly from: 'database' | 'parameter' | 'options';
}

export interface ParsedStartup {
  /** As it was sent. Undefined, as the others are, if PostgreSQL refuses the packet for its layout. */
  readonly user: string | undefined;
  /** As it is forwarded. Undefined: the server uses the user's name for it, as it does for `@ro`. */
  readonly database: string | undefined;
  readonly application: string | undefined;
  readonly poolRequest: PoolRequest | undefined;
  /** The packet to forward: without the request, every other byte unchanged. The same object if there is no request. */
  readonly forwarded: Uint8Array;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const USER = ENCODER.encode('user');
const DATABASE = ENCODER.encode('database');
const OPTIONS = ENCODER.encode('options');
const APPLICATION = ENCODER.encode('application_name');
const SETTING = 'pointsman.pool';
const PARAMETERS_AT = 8;
const AT_SIGN = 0x40;
/** `%40`: the @ of a connection URI that was not decoded. */
const [PERCENT, FOUR, ZERO] = [0x25, 0x34, 0x30];

/** Bytes of the packet. */
interface ByteSpan {
  readonly from: number;
  readonly to: number;
}

export function readPoolRequest(packet: Uint8Array): ParsedStartup {
  const { user, database, application, options, parameters } = valuesOf(packet);
  const suffix = database && suffixOf(packet, database);
  const settings = options === undefined ? [] : settingsIn(packet, options);
  const name = database === undefined ? '' : textOf(packet, { from: database.from, to: suffix?.from ?? database.to });
  // As in PostgreSQL, the last setting of a name counts.
  const parameter = parameters.at(-1);
  const setting = settings.at(-1);
  let poolRequest: PoolRequest | undefined;
  if (suffix !== undefined) poolRequest = { name: textOf(packet, suffix.value), from: 'database' };
  else if (parameter !== undefined) poolRequest = { name: textOf(packet, parameter.value), from: 'parameter' };
  else if (setting !== undefined) poolRequest = { name: setting.value, from: 'options' };
  return {
    user: user && textOf(packet, user),
    database: name === '' ? undefined : name,
    application: application && textOf(packet, application),
    poolRequest,
    forwarded: without(packet, [...settings, ...parameters, ...(suffix === undefined ? [] : [suffix])]),
  };
}

function without(packet: Uint8Array, cuts: readonly ByteSpan[]): Uint8Array {
  if (cuts.length === 0) return packet;
  const kept: Uint8Array[] = [];
  let read = 0;
  for (const { from, to } of cuts.toSorted((one, other) => one.from - other.from)) {
    kept.push(packet.subarray(read, from));
    read = to;
  }
  const forwarded = joined([...kept, packet.subarray(read)]);
  new DataView(forwarded.buffer).setInt32(0, forwarded.length);
  return forwarded;
}

/** A place in the packet that requests a pool, with the separator or the name and the terminators around its value. */
type RequestSpan = ByteSpan & { readonly value: ByteSpan };

function settingsIn(packet: Uint8Array, options: ByteSpan): readonly OptionSetting[] {
  const settings = settingsOf(packet.subarray(options.from, options.to), SETTING);
  return settings.map(({ value, from, to }) => ({ value, from: options.from + from, to: options.from + to }));
}

interface PacketValues {
  readonly user?: ByteSpan | undefined;
  readonly database?: ByteSpan | undefined;
  readonly application?: ByteSpan | undefined;
  readonly options?: ByteSpan | undefined;
  readonly parameters: readonly RequestSpan[];
}

const NO_VALUES: PacketValues = { parameters: [] };

/**
 * The positions of the values: the last one of each name, and every pool parameter. None for a packet that PostgreSQL
 * refuses for its layout.
 */
function valuesOf(packet: Uint8Array): PacketValues {
  if (packet[4] !== 0 || packet[5] !== 3) return NO_VALUES;
  let user: ByteSpan | undefined;
  let database: ByteSpan | undefined;
  let application: ByteSpan | undefined;
  let options: ByteSpan | undefined;
  const parameters: RequestSpan[] = [];
  let at = PARAMETERS_AT;
  while (packet[at] !== 0) {
    const nameEnd = packet.indexOf(0, at);
    const valueEnd = nameEnd === -1 ? -1 : packet.indexOf(0, nameEnd + 1);
    if (valueEnd === -1) return NO_VALUES;
    const value = { from: nameEnd + 1, to: valueEnd };
    if (stands(USER, packet, at, nameEnd)) user = value;
    else if (stands(DATABASE, packet, at, nameEnd)) database = value;
    else if (stands(APPLICATION, packet, at, nameEnd)) application = value;
    else if (stands(OPTIONS, packet, at, nameEnd)) options = value;
    else if (isSetting(packet, at, nameEnd)) parameters.push({ from: at, to: valueEnd + 1, value });
    at = valueEnd + 1;
  }
  return at === packet.length - 1 ? { user, database, application, options, parameters } : NO_VALUES;
}

/** Names of settings ignore case, the other names do not (process_startup_options in postinit.c). */
function isSetting(packet: Uint8Array, from: number, to: number): boolean {
  return to - from === SETTING.length && textOf(packet, { from, to }).toLowerCase() === SETTING;
}

function stands(name: Uint8Array, packet: Uint8Array, from: number, to: number): boolean {
  return to - from === name.length && name.every((byte, index) => packet[from + index] === byte);
}

function suffixOf(packet: Uint8Array, database: ByteSpan): RequestSpan | undefined {
  for (let at = database.to - 1; at >= database.from; at -= 1) {
    const length = separatorLength(packet, at);
    if (length > 0) return { from: at, to: database.to, value: { from: at + length, to: database.to } };
  }
  return undefined;
}

function separatorLength(packet: Uint8Array, at: number): number {
  if (packet[at] === AT_SIGN) return 1;
  return packet[at] === PERCENT && packet[at + 1] === FOUR && packet[at + 2] === ZERO ? 3 : 0;
}

function textOf(packet: Uint8Array, { from, to }: ByteSpan): string {
  return DECODER.decode(packet.subarray(from, to));
}
