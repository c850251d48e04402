// The messages of the PostgreSQL protocol that simulated servers and clients exchange, taken apart and put together by
// hand: independent of src/wire.
import { aMessage, aNumber } from '../../support/sockets/messages.ts';

export interface Frame {
  /** Empty for the first one of a connection. */
  readonly type: string;
  readonly body: Buffer;
}

/** Cuts a stream into messages. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0);
  #isFirst: boolean;

  /** `isServer`: the first message has no type. */
  constructor(isServer: boolean) {
    this.#isFirst = isServer;
  }

  add(chunk: Uint8Array): void {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
  }

  /** Another request without a type follows: the last one asked for encryption. */
  startAgain(): void {
    this.#isFirst = true;
  }

  next(): Frame | undefined {
    const header = this.#isFirst ? 0 : 1;
    if (this.#rest.length < header + 4) return undefined;
    const end = header + this.#rest.readInt32BE(header);
    if (this.#rest.length < end) return undefined;
    const type = this.#isFirst ? '' : String.fromCharCode(this.#rest[0] ?? 0);
    const body = this.#rest.subarray(header + 4, end);
    this.#rest = this.#rest.subarray(end);
    this.#isFirst = false;
    return { type, body };
  }
}

/** Reads a body from its beginning. */
export class Fields {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  text(): string {
    const end = this.#body.indexOf(0, this.#at);
    const text = this.#body.toString('utf8', this.#at, end === -1 ? this.#body.length : end);
    this.#at = end === -1 ? this.#body.length : end + 1;
    return text;
  }

  /** One character. */
  kind(): string {
    this.#at += 1;
    return String.fromCharCode(this.#body[this.#at - 1] ?? 0);
  }

  int16(): number {
    this.#at += 2;
    return this.#body.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#body.readInt32BE(this.#at - 4);
  }

  /** With its length before it. */
  value(): string | null {
    const length = this.int32();
    if (length === -1) return null;
    this.#at += length;
    return this.#body.toString('utf8', this.#at - length, this.#at);
  }

  isAtEnd(): boolean {
    return this.#at >= this.#body.length;
  }
}

export function anInt16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function cText(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

function values(row: readonly (string | null)[]): readonly Buffer[] {
  return row.flatMap((value) => {
    if (value === null) return [aNumber(-1)];
    const bytes = Buffer.from(value);
    return [aNumber(bytes.length), bytes];
  });
}

export function dataRow(row: readonly (string | null)[]): Buffer {
  return aMessage('D', Buffer.concat([anInt16(row.length), ...values(row)]));
}

export function rowDescription(columns: readonly (readonly [string, number])[]): Buffer {
  const fields = columns.flatMap(([name, type]) => [
    cText(name),
    aNumber(0),
    anInt16(0),
    aNumber(type),
    anInt16(-1),
    aNumber(-1),
    anInt16(0),
  ]);
  return aMessage('T', Buffer.concat([anInt16(columns.length), ...fields]));
}

export function parameterDescription(types: readonly number[]): Buffer {
  return aMessage('t', Buffer.concat([anInt16(types.length), ...types.map(aNumber)]));
}

export function commandComplete(tag: string): Buffer {
  return aMessage('C', cText(tag));
}

export function aStartup(parameters: Readonly<Record<string, string>>): Buffer {
  const texts = Object.entries(parameters).flatMap(([name, value]) => [cText(name), cText(value)]);
  const body = Buffer.concat([aNumber(196_608), ...texts, Buffer.of(0)]);
  return Buffer.concat([aNumber(body.length + 4), body]);
}

export function aCancelRequest(process: number, secret: number): Buffer {
  return Buffer.concat([aNumber(16), aNumber(80_877_102), aNumber(process), aNumber(secret)]);
}

export function aQuery(sql: string): Buffer {
  return aMessage('Q', cText(sql));
}

export function aParse(name: string, sql: string, types: readonly number[] = []): Buffer {
  return aMessage('P', Buffer.concat([cText(name), cText(sql), anInt16(types.length), ...types.map(aNumber)]));
}

/** To the unnamed portal, all in text. */
export function aBind(statement: string, parameters: readonly (string | null)[]): Buffer {
  const head = [cText(''), cText(statement), anInt16(0), anInt16(parameters.length)];
  return aMessage('B', Buffer.concat([...head, ...values(parameters), anInt16(0)]));
}

export function anExecute(): Buffer {
  return aMessage('E', Buffer.concat([cText(''), aNumber(0)]));
}
