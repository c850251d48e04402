// Which pool a StartupMessage of protocol 3 asks for, and the packet without that. There are three ways to name one:
// `app@ro` as the database (also with a literal `%40`), the startup parameter `pointsman.pool`, and the startup option
// `-c pointsman.pool=ro`. Every session has such a packet: it is walked once, and only what is asked for becomes text.
// What follows the last @ of a database is always a target, known or not: a client that is told that it is unknown
// learns what is wrong. A database that is really called `a@b` is reached as `a@b@rw`. Which names there are, and what
// `ro` and `rw` mean, is for the caller to know. The name of a user is never read as a target.
import { settingsOf } from './startup-options.ts';

export interface Target {
  readonly name: string;
  /**
   * Where several name one, the first of these counts: the last two in this order because PostgreSQL sets them the
   * other way round.
   */
  readonly from: 'database' | 'parameter' | 'options';
}

export interface Asked {
  /** As it was sent. Undefined where there is none, or where PostgreSQL refuses the packet for its layout; so are the others then. */
  readonly user: string | undefined;
  /** As it is to be forwarded. Undefined: the server takes the user's name for it, as it does for `@ro`. */
  readonly database: string | undefined;
  readonly target: Target | undefined;
  /** The packet to forward: nothing that names a target, every other byte as it was. The same packet where it names none. */
  readonly forwarded: Uint8Array;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const USER = ENCODER.encode('user');
const DATABASE = ENCODER.encode('database');
const OPTIONS = ENCODER.encode('options');
const SETTING = 'pointsman.pool';
const PARAMETERS_AT = 8;
const AT_SIGN = 0x40;
/** `%40`: the @ of a connection URI that nobody decoded. */
const [PERCENT, FOUR, ZERO] = [0x25, 0x34, 0x30];

/** Bytes of the packet. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export function readTarget(packet: Uint8Array): Asked {
  const layout = layoutOf(packet);
  const { user, database, suffix, parameters, options } = layout;
  const name = database === undefined ? '' : textOf(packet, database.from, suffix?.from ?? database.to);
  // As in PostgreSQL, the last setting of a name counts.
  const parameter = parameters.at(-1);
  const setting = options.at(-1);
  let target: Target | undefined;
  if (suffix !== undefined) target = { name: textOf(packet, suffix.name.from, suffix.name.to), from: 'database' };
  else if (parameter !== undefined) {
    target = { name: textOf(packet, parameter.value.from, parameter.value.to), from: 'parameter' };
  } else if (setting !== undefined) target = { name: setting.value, from: 'options' };
  return {
    user: user === undefined ? undefined : textOf(packet, user.from, user.to),
    database: name === '' ? undefined : name,
    target,
    forwarded: withoutTarget(packet, layout),
  };
}

function withoutTarget(packet: Uint8Array, { suffix, parameters, options }: Layout): Uint8Array {
  if (suffix === undefined && parameters.length === 0 && options.length === 0) return packet;
  const cuts: Span[] = [...options, ...parameters, ...(suffix === undefined ? [] : [suffix])];
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
  readonly user: Span | undefined;
  readonly database: Span | undefined;
  /** From the separator on, which `name` leaves out. */
  readonly suffix: (Span & { readonly name: Span }) | undefined;
  /** Each with its name and its terminators. */
  readonly parameters: readonly Parameter[];
  readonly options: readonly (Span & { readonly value: string })[];
}

type Parameter = Span & { readonly value: Span };

const NO_SETTINGS: Layout['options'] = [];

function layoutOf(packet: Uint8Array): Layout {
  const { user, database, parameters, options: start } = valuesOf(packet);
  const suffix = database === undefined ? undefined : suffixOf(packet, database);
  return {
    user,
    database,
    suffix,
    parameters,
    options: start === undefined ? NO_SETTINGS : settingsIn(packet, start),
  };
}

function settingsIn(packet: Uint8Array, options: Span): Layout['options'] {
  const settings = settingsOf(packet.subarray(options.from, options.to), SETTING);
  return settings.map(({ value, from, to }) => ({ value, from: options.from + from, to: options.from + to }));
}

interface Values {
  readonly user: Span | undefined;
  readonly database: Span | undefined;
  readonly options: Span | undefined;
  readonly parameters: readonly Parameter[];
}

const NO_PARAMETERS: readonly Parameter[] = [];
const NO_VALUES: Values = { user: undefined, database: undefined, options: undefined, parameters: NO_PARAMETERS };

/**
 * Where their values stand, the last of a name, but every target; nothing of a packet that PostgreSQL refuses for its
 * layout.
 */
function valuesOf(packet: Uint8Array): Values {
  if (packet[4] !== 0 || packet[5] !== 3) return NO_VALUES;
  let user: Span | undefined;
  let database: Span | undefined;
  let options: Span | undefined;
  let parameters = NO_PARAMETERS;
  let at = PARAMETERS_AT;
  while (at < packet.length && packet[at] !== 0) {
    const nameEnd = packet.indexOf(0, at);
    const valueEnd = nameEnd === -1 ? -1 : packet.indexOf(0, nameEnd + 1);
    if (valueEnd === -1) return NO_VALUES;
    const value = { from: nameEnd + 1, to: valueEnd };
    if (stands(USER, packet, at, nameEnd)) user = value;
    else if (stands(DATABASE, packet, at, nameEnd)) database = value;
    else if (stands(OPTIONS, packet, at, nameEnd)) options = value;
    else if (isSetting(packet, at, nameEnd)) parameters = [...parameters, { from: at, to: valueEnd + 1, value }];
    at = valueEnd + 1;
  }
  return at === packet.length - 1 ? { user, database, options, parameters } : NO_VALUES;
}

/** Names of settings know no case, those of the others do (process_startup_options in postinit.c). */
function isSetting(packet: Uint8Array, from: number, to: number): boolean {
  return to - from === SETTING.length && textOf(packet, from, to).toLowerCase() === SETTING;
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
  return packet[at] === PERCENT && packet[at + 1] === FOUR && packet[at + 2] === ZERO ? 3 : 0;
}

function textOf(packet: Uint8Array, from: number, to: number): string {
  return DECODER.decode(packet.subarray(from, to));
}
