// A session on a bare socket: the test chooses the bytes and their cuts, and sees every message that the server sends.
// Its role logs in without a password (trust).
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import type { ServerTls } from '../patroni/settings.ts';
import { aMessage } from '../sockets/messages.ts';
import { aStartup } from '../sockets/packets.ts';
import { until } from '../waiting/until.ts';

export interface WireMessage {
  readonly type: string;
  readonly body: Buffer;
}

export class WireSession {
  readonly #socket: Socket;
  #unread = Buffer.alloc(0);
  readonly #messages: WireMessage[] = [];
  isEnded = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', () => (this.isEnded = true));
    socket.on('close', () => (this.isEnded = true));
  }

  /** The messages of the login. */
  greeting: readonly WireMessage[] = [];

  /** `ssl`: encrypted from the first byte on. */
  static async open(
    { port, ssl }: { readonly port: number; readonly ssl?: ServerTls | undefined },
    parameters: Readonly<Record<string, string>>,
    version?: number,
  ): Promise<WireSession> {
    const plain = connect({ host: '127.0.0.1', port, noDelay: true });
    await once(plain, 'connect');
    const socket = ssl === undefined ? plain : connectTls({ ...ssl, socket: plain, ALPNProtocols: ['postgresql'] });
    if (socket !== plain) await once(socket, 'secureConnect');
    const session = new WireSession(socket);
    socket.write(aStartup(parameters, version));
    session.greeting = await session.answers(1);
    return session;
  }

  send(...bytes: readonly Uint8Array[]): void {
    this.#socket.write(Buffer.concat(bytes));
  }

  /**
   * The messages up to so many ReadyForQuery, which are taken. ParameterStatus is left out: it may come at any time.
   */
  async answers(count: number): Promise<readonly WireMessage[]> {
    const isReady = ({ type }: WireMessage): boolean => type === 'Z';
    await until(`${count} answers`, () => {
      if (this.isEnded) throw new Error(`the session ended: ${this.#shown()}`);
      return this.#messages.filter(isReady).length >= count;
    });
    let left = count;
    const end = this.#messages.findIndex((message) => isReady(message) && (left -= 1) === 0);
    return this.#messages.splice(0, end + 1).filter(({ type }) => type !== 'S');
  }

  /** The messages that answer no request. */
  get unasked(): readonly WireMessage[] {
    return this.#messages.filter(({ type }) => type !== 'S');
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    while (this.#unread.length >= 5) {
      const end = 1 + this.#unread.readInt32BE(1);
      if (this.#unread.length < end) return;
      this.#messages.push({ type: String.fromCharCode(this.#unread[0] ?? 0), body: this.#unread.subarray(5, end) });
      this.#unread = this.#unread.subarray(end);
    }
  }

  #shown(): string {
    return this.#messages.map(({ type, body }) => `${type} ${body.toString('latin1')}`).join('\n');
  }
}

/** `TDCZ` */
export function typesOf(messages: readonly WireMessage[]): string {
  return messages.map(({ type }) => type).join('');
}

/** The first columns of the rows. */
export function rowsOf(messages: readonly WireMessage[]): readonly string[] {
  return messages
    .filter(({ type }) => type === 'D')
    .map(({ body }) => body.subarray(6, 6 + body.readInt32BE(2)).toString());
}

export function query(text: string): Buffer {
  return aMessage('Q', Buffer.from(`${text}\0`));
}

/** Without types for its parameters. */
export function parse(name: string, text: string | Buffer): Buffer {
  return aMessage('P', Buffer.concat([Buffer.from(`${name}\0`), Buffer.from(text), Buffer.alloc(3)]));
}

/** The values as text, all columns as text. */
export function bind(statement: string, ...values: readonly string[]): Buffer {
  const parts = values.flatMap((value) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(Buffer.byteLength(value));
    return [length, Buffer.from(value)];
  });
  const count = Buffer.alloc(2);
  count.writeInt16BE(values.length);
  return aMessage('B', Buffer.concat([Buffer.from(`\0${statement}\0\0\0`), count, ...parts, Buffer.alloc(2)]));
}
