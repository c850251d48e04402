// A client that speaks the protocol by hand: it logs in without a secret, and gives each request to the server as it
// is.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import { until } from '../waiting/until.ts';
import { aMessage, aNumber } from './messages.ts';
import { aStartup } from './packets.ts';

const LIMIT_MS = 20_000;

export interface ServerMessage {
  readonly type: string;
  readonly body: Buffer;
}

/** A machine that is given the server's bytes until it is done. */
interface Machine<Done> {
  take(chunk: Uint8Array): { readonly kind: 'wait' } | { readonly kind: 'send'; readonly bytes: Uint8Array } | Done;
}

export class WireClient {
  readonly socket: Socket;
  readonly parameters = new Map<string, string>();
  #received = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => (this.#received = Buffer.concat([this.#received, chunk])));
    socket.on('error', () => {});
    onTestFinished(() => {
      socket.destroy();
    });
  }

  /** Before its startup message. */
  static async open({ host, port }: Address): Promise<WireClient> {
    const socket = connect({ host, port });
    const client = new WireClient(socket);
    await once(socket, 'connect');
    return client;
  }

  static async connect(address: Address, startup: Readonly<Record<string, string>>): Promise<WireClient> {
    const client = await WireClient.open(address);
    client.socket.write(aStartup(startup));
    for (const { type, body } of await client.answer()) {
      const [name = '', value = ''] = body.toString().split('\0');
      if (type === 'S') client.parameters.set(name, value);
      if (type === 'E') throw new Error(body.toString());
    }
    return client;
  }

  get serverMajor(): number {
    return Number.parseInt(this.parameters.get('server_version') ?? '', 10);
  }

  /** All messages up to the next ReadyForQuery, or to a fatal error. */
  async answer(): Promise<readonly ServerMessage[]> {
    return until('the server is ready', () => this.#takeAnswer(), LIMIT_MS);
  }

  #takeAnswer(): readonly ServerMessage[] | undefined {
    const messages: ServerMessage[] = [];
    let at = 0;
    while (at + 5 <= this.#received.length) {
      const end = at + 1 + this.#received.readInt32BE(at + 1);
      if (end > this.#received.length) return undefined;
      const type = String.fromCharCode(this.#received[at] ?? 0);
      const body = this.#received.subarray(at + 5, end);
      messages.push({ type, body });
      at = end;
      const isEnd = type === 'Z' || (type === 'E' && body.includes('VFATAL\0'));
      if (!isEnd) continue;
      this.#received = this.#received.subarray(at);
      return messages;
    }
    return undefined;
  }

  async exchange(...messages: readonly Uint8Array[]): Promise<readonly ServerMessage[]> {
    this.socket.write(Buffer.concat(messages));
    return this.answer();
  }

  /** Simple statements, in the bytes of client_encoding. The texts of all values; a failure throws. */
  async query(sql: string | Buffer): Promise<readonly string[]> {
    const answer = await this.exchange(aMessage('Q', Buffer.concat([Buffer.from(sql), Buffer.alloc(1)])));
    const error = answer.find(({ type }) => type === 'E');
    if (error !== undefined) throw new Error(error.body.toString());
    return answer.filter(({ type }) => type === 'D').flatMap(({ body }) => valuesOf(body));
  }

  /** Drives a machine over this session until it is done. */
  async drive<Done extends { readonly kind: 'done' }>(first: Uint8Array, machine: Machine<Done>): Promise<Done> {
    this.socket.write(first);
    return until(
      'the machine is done',
      () => {
        const chunk = this.#received;
        this.#received = Buffer.alloc(0);
        if (chunk.length === 0) return undefined;
        const step = machine.take(chunk);
        if (step.kind === 'send') this.socket.write(step.bytes);
        return step.kind === 'done' ? step : undefined;
      },
      LIMIT_MS,
    );
  }
}

/** A Parse message. */
export function aParse(name: string, sql: string | Buffer, types: readonly number[] = []): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(types.length);
  const text = Buffer.concat([Buffer.from(`${name}\0`), Buffer.from(sql), Buffer.alloc(1)]);
  return aMessage('P', Buffer.concat([text, count, ...types.map(aNumber)]));
}

/** Bind with text values, and Execute. */
export function aRun(name: string, values: readonly string[] = []): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(values.length);
  const parts = values.flatMap((value) => [aNumber(Buffer.byteLength(value)), Buffer.from(value)]);
  const body = Buffer.concat([Buffer.from(`\0${name}\0\0\0`, 'latin1'), count, ...parts, Buffer.alloc(2)]);
  return Buffer.concat([aMessage('B', body), aMessage('E', Buffer.alloc(5))]);
}

/** Texts of a DataRow. */
export function valuesOf(body: Buffer): readonly string[] {
  const values: string[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left -= 1) {
    const size = Math.max(0, body.readInt32BE(at));
    values.push(body.toString('utf8', at + 4, at + 4 + size));
    at += 4 + size;
  }
  return values;
}
