// A name server on loopback, over UDP: answers A, AAAA and SRV questions from tables, or misbehaves. It knows only what
// a stub resolver asks: one question a packet, no compression in its answers, no truncation (RFC 1035, RFC 2782).
import { createSocket } from 'node:dgram';
import type { RemoteInfo, Socket } from 'node:dgram';
import { isIP } from 'node:net';

export interface FakeSrv {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}

/** `silent`: no answer at all; `garbage`: bytes that are no answer. */
export type DnsMood = 'well' | 'servfail' | 'silent' | 'garbage';

const TYPES = { A: 1, AAAA: 28, SRV: 33 } as const;
const RCODES = { ok: 0, servfail: 2, nxdomain: 3 } as const;

export class FakeDns {
  /** Addresses of a name, of either family. */
  readonly names = new Map<string, readonly string[]>();
  readonly services = new Map<string, readonly FakeSrv[]>();
  /** `A pg-1.test`, in order. */
  readonly questions: string[] = [];
  ttlSeconds = 30;
  mood: DnsMood = 'well';
  /** Fails on every question for IPv6, as some servers do. */
  isBadAtIpv6 = false;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (packet, from) => this.#answer(packet, from));
  }

  static async start(): Promise<FakeDns> {
    const socket = createSocket('udp4');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once('error', reject);
    socket.bind({ address: '127.0.0.1', port: 0 }, resolve);
    await promise;
    return new FakeDns(socket);
  }

  /** As `setServers` takes it. */
  get address(): string {
    const { address, port } = this.#socket.address();
    return `${address}:${port}`;
  }

  async stop(): Promise<void> {
    await this.#socket[Symbol.asyncDispose]();
  }

  #answer(packet: Buffer, from: RemoteInfo): void {
    const { name, type, end } = readQuestion(packet);
    const kind = Object.entries(TYPES).find(([, code]) => code === type)?.[0] ?? `type ${type}`;
    this.questions.push(`${kind} ${name}`);
    if (this.mood === 'silent') return;
    if (this.mood === 'garbage') return this.#send(Buffer.from([0, 1, 2]), from);
    const isFailing = this.mood === 'servfail' || (this.isBadAtIpv6 && type === TYPES.AAAA);
    const isKnown = this.names.has(name) || this.services.has(name);
    const rcode = isFailing ? RCODES.servfail : isKnown ? RCODES.ok : RCODES.nxdomain;
    const records = isFailing ? [] : this.#records(name, type);
    const header = Buffer.alloc(12);
    header.writeUInt16BE(packet.readUInt16BE(0), 0);
    // A response to a recursive question, recursion available.
    header.writeUInt16BE(0x8180 | rcode, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const body = records.map((data) => this.#record(name, type, data));
    this.#send(Buffer.concat([header, packet.subarray(12, end), ...body]), from);
  }

  #records(name: string, type: number): readonly Buffer[] {
    if (type === TYPES.SRV) return (this.services.get(name) ?? []).map(srvData);
    const version = type === TYPES.A ? 4 : type === TYPES.AAAA ? 6 : 0;
    return (this.names.get(name) ?? []).filter((address) => isIP(address) === version).map(addressData);
  }

  #record(name: string, type: number, data: Buffer): Buffer {
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(type, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt32BE(this.ttlSeconds, 4);
    fixed.writeUInt16BE(data.length, 8);
    return Buffer.concat([labels(name), fixed, data]);
  }

  #send(packet: Buffer, { address, port }: RemoteInfo): void {
    this.#socket.send(packet, port, address);
  }
}

function readQuestion(packet: Buffer): { name: string; type: number; end: number } {
  const parts: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    parts.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // Resolvers may vary the case of what they ask.
  return { name: parts.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

function labels(name: string): Buffer {
  const parts = name.split('.').filter((part) => part !== '');
  return Buffer.concat([
    ...parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])),
    Buffer.from([0]),
  ]);
}

function srvData({ priority, weight, port, target }: FakeSrv): Buffer {
  const fixed = Buffer.alloc(6);
  fixed.writeUInt16BE(priority, 0);
  fixed.writeUInt16BE(weight, 2);
  fixed.writeUInt16BE(port, 4);
  return Buffer.concat([fixed, labels(target)]);
}

function addressData(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0');
  const words = address.includes('::') ? [...groups(head), ...zeros, ...groups(tail)] : groups(head);
  return Buffer.from(words.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]));
}

function groups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}
