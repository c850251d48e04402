// A client's first packets, built by hand, and the answers to them, taken apart by hand: independent of src/wire.

export function aStartup(
  parameters: Readonly<Record<string, string>> = { user: 'app', database: 'shop' },
  version = 0x00030000,
): Buffer {
  const text = Object.entries(parameters).map(([name, value]) => `${name}\0${value}\0`);
  return aPacket(version, Buffer.from(`${text.join('')}\0`));
}

/** Length word, code, body. */
export function aPacket(code: number, body: Uint8Array = new Uint8Array(0)): Buffer {
  const packet = Buffer.alloc(8 + body.length);
  packet.writeInt32BE(packet.length, 0);
  packet.writeInt32BE(code, 4);
  packet.set(body, 8);
  return packet;
}

export const SSL_REQUEST = aPacket(80877103);
export const GSSENC_REQUEST = aPacket(80877104);

export function aCancelRequest(keyLength = 4): Buffer {
  return aCancelOf(42, Buffer.alloc(keyLength, 7));
}

export function aCancelOf(processId: number, secret: Uint8Array): Buffer {
  const process = Buffer.alloc(4);
  process.writeInt32BE(processId);
  return aPacket(80877102, Buffer.concat([process, secret]));
}

/** The fields of one whole ErrorResponse by their letter; undefined while it is not there whole. */
export function errorFields(bytes: Buffer): Readonly<Record<string, string>> | undefined {
  if (bytes.length < 5 || bytes[0] !== 0x45 || bytes.length < 1 + bytes.readInt32BE(1)) return undefined;
  const fields = bytes
    .subarray(5, 1 + bytes.readInt32BE(1))
    .toString()
    .split('\0');
  return Object.fromEntries(fields.filter((field) => field !== '').map((field) => [field.charAt(0), field.slice(1)]));
}

/** Version 2 of the PROXY protocol: command and family as one byte each, then addresses and extensions. */
export function aProxyHeader(command: number, family: number, ...parts: readonly Uint8Array[]): Buffer {
  const rest = Buffer.concat(parts);
  const fixed = Buffer.from('\r\n\r\n\0\r\nQUIT\n\0\0\0\0', 'latin1');
  fixed[12] = command;
  fixed[13] = family;
  fixed.writeUInt16BE(rest.length, 14);
  return Buffer.concat([fixed, rest]);
}
