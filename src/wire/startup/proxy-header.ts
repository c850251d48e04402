// The header of the PROXY protocol, versions 1 and 2, which a load balancer sends before everything else: the address
// of its client. Recognised by its first bytes, which no packet of PostgreSQL has. A function of the bytes so far.
// Rules: "The PROXY protocol, versions 1 & 2" of HAProxy, sections 2.1 and 2.2. Pure.
import { canonicalIpv6 } from '../../model/ipv6.ts';
import type { Address } from '../../model/member.ts';
import { byteText } from '../messages/byte-text.ts';

export type ProxyHeader =
  | { readonly kind: 'need_more' }
  /** `source`: undefined where the load balancer speaks for itself (LOCAL), or names no TCP address. */
  | { readonly kind: 'proxy_header'; readonly length: number; readonly source: Address | undefined }
  | { readonly kind: 'invalid'; readonly why: string };

const NEED_MORE = { kind: 'need_more' } as const;

const OPENING_1 = 'PROXY ';
const OPENING_2 = '\r\n\r\n\0\r\nQUIT\n';
/** A header of version 1, with its line end. */
const LONGEST_LINE = 107;
/** A header of version 2: more than any balancer sends, and less than a startup packet may have. */
const LONGEST_BLOCK = 2048;

/** Undefined: the bytes begin no header. */
export function proxyHeader(bytes: Uint8Array): ProxyHeader | undefined {
  if (isOpening(bytes, OPENING_1)) return version1(bytes);
  if (isOpening(bytes, OPENING_2)) return version2(bytes);
  return undefined;
}

function isOpening(bytes: Uint8Array, opening: string): boolean {
  // Nearly every client begins with another byte.
  return bytes[0] === opening.charCodeAt(0) && opening.startsWith(byteText(bytes.subarray(0, opening.length)));
}

function version1(bytes: Uint8Array): ProxyHeader {
  const text = byteText(bytes.subarray(0, LONGEST_LINE));
  const end = text.indexOf('\r\n');
  if (end < 0) {
    return bytes.length < LONGEST_LINE ? NEED_MORE : invalid(`its line has no end within ${LONGEST_LINE} bytes`);
  }
  const [, family, ...rest] = text.slice(0, end).split(' ');
  const length = end + 2;
  if (family === 'UNKNOWN') return { kind: 'proxy_header', length, source: undefined };
  const address = family === 'TCP4' ? ipv4 : family === 'TCP6' ? canonicalIpv6 : undefined;
  if (address === undefined) return invalid('its family is not TCP4, TCP6 or UNKNOWN');
  const [from = '', to = '', fromPort = '', toPort = ''] = rest;
  const host = address(from);
  const ports = [fromPort, toPort].map(port);
  if (rest.length !== 4 || host === undefined || address(to) === undefined || ports.includes(undefined)) {
    return invalid(`expected ${family}, two addresses and two ports`);
  }
  return { kind: 'proxy_header', length, source: { host, port: Number(fromPort) } };
}

const FIXED = 16;
const LOCAL = 0x20;
const PROXY = 0x21;
const CRC32C = 0x03;
/** Size of the addresses and ports, by address family. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 12, 2: 36, 3: 216 };
const TCP4 = 0x11;
const TCP6 = 0x21;

function version2(bytes: Uint8Array): ProxyHeader {
  if (bytes.length < FIXED) return NEED_MORE;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [command, family] = [view.getUint8(12), view.getUint8(13)];
  const length = FIXED + view.getUint16(14);
  if (command !== LOCAL && command !== PROXY) return invalid(`unknown version and command 0x${command.toString(16)}`);
  if (length > LONGEST_BLOCK) return invalid(`it is longer than ${LONGEST_BLOCK} bytes`);
  const addresses = ADDRESS_BYTES[family >> 4];
  const isKnown = addresses !== undefined && (family & 15) <= 2;
  if (command === PROXY && !isKnown) return invalid(`unknown family 0x${family.toString(16)}`);
  if (bytes.length < length) return NEED_MORE;
  // A LOCAL header may have any family, and any bytes behind its fixed part.
  if (command === LOCAL || !isKnown) return { kind: 'proxy_header', length, source: undefined };
  if (length < FIXED + addresses) return invalid('its addresses are cut off');
  const fault = extensionFault(bytes.subarray(0, length), FIXED + addresses);
  return fault === undefined ? { kind: 'proxy_header', length, source: sourceOf(view, family) } : invalid(fault);
}

/** Undefined: it is no TCP address. */
function sourceOf(view: DataView, family: number): Address | undefined {
  if (family === TCP4) {
    const host = [0, 1, 2, 3].map((at) => view.getUint8(FIXED + at)).join('.');
    return { host, port: view.getUint16(FIXED + 8) };
  }
  if (family !== TCP6) return undefined;
  const groups = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => view.getUint16(FIXED + at).toString(16));
  return { host: canonicalIpv6(groups.join(':')) ?? '', port: view.getUint16(FIXED + 32) };
}

/** Type, length and value, one behind the other. All are passed over but the checksum. */
function extensionFault(header: Uint8Array, from: number): string | undefined {
  let at = from;
  while (at < header.length) {
    const size = ((header[at + 1] ?? 0) << 8) | (header[at + 2] ?? 0);
    const value = at + 3;
    const next = value + size;
    if (next > header.length) return 'an extension is cut off';
    if (header[at] === CRC32C && !(size === 4 && isIntact(header, value))) return 'its checksum is wrong';
    at = next;
  }
  return undefined;
}

function isIntact(header: Uint8Array, at: number): boolean {
  const sent = new DataView(header.buffer, header.byteOffset).getUint32(at);
  const zeroed = new Uint8Array(header);
  zeroed.fill(0, at, at + 4);
  return crc32c(zeroed) === sent;
}

/** The checksum of RFC 3720, section 12.1. Node has CRC-32 with another polynomial. */
function crc32c(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

function ipv4(text: string): string | undefined {
  const numbers = text.split('.');
  return numbers.length === 4 && numbers.every((number) => isNumber(number, 255)) ? text : undefined;
}

function port(text: string): number | undefined {
  return isNumber(text, 65_535) ? Number(text) : undefined;
}

function isNumber(text: string, most: number): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= most;
}

function invalid(why: string): ProxyHeader {
  return { kind: 'invalid', why: `broken PROXY protocol header: ${why}` };
}
