// Clients and servers that leave abruptly, in every phase of their sessions. Their actions follow from a seed. The
// kernel decides when a byte arrives between two actions.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Address } from '../../../src/model/member.ts';
import { carry, resetSocket } from '../../../src/proxy/socket.ts';
import { encodeErrorResponse } from '../../../src/wire/messages/error-response.ts';
import type { BackendConnection, FakeBackend } from '../fakes/fake-backend.ts';
import { COMMAND_COMPLETE, PARSE, QUERY, SYNC, TERMINATE, readyForQuery } from '../sockets/messages.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aCancelOf, aStartup } from '../sockets/packets.ts';
import { watch } from '../sockets/raw-client.ts';
import { over } from '../sockets/tls-client.ts';

/** Draws from a seed: the same seed draws the same. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** In [0, 1). Mulberry32. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** In [0, below). */
  number(below: number): number {
    return Math.floor(this.roll() * below);
  }

  isLucky(chance: number): boolean {
    return this.roll() < chance;
  }

  pick<One>(from: readonly One[]): One {
    const one = from[this.number(from.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  }
}

type Act = () => unknown;

const MUCH = Buffer.alloc(300_000, 'x');

/** A message of some use comes more often than nonsense. */
export const WORDS: readonly Uint8Array[] = [
  aStartup(),
  aStartup(),
  aStartup(),
  Buffer.concat([aStartup(), QUERY]),
  aStartup().subarray(0, 9),
  SSL_REQUEST,
  SSL_REQUEST,
  GSSENC_REQUEST,
  aCancelOf(42, Buffer.alloc(4, 7)),
  aCancelOf(43, Buffer.alloc(4, 7)),
  QUERY,
  QUERY,
  Buffer.concat([PARSE, SYNC]),
  TERMINATE,
  MUCH,
  Buffer.from('GET / HTTP/1.1\r\n\r\n'),
];

class RudeClient {
  /** Its connection. */
  #socket: Socket;
  readonly #carrier: Socket;

  constructor(at: Address, wantsTls: boolean, greeting: Uint8Array | undefined) {
    const carrier = connect({ ...at, allowHalfOpen: true });
    const raw = watch(carrier);
    this.#carrier = carrier;
    this.#socket = carrier;
    if (!wantsTls) {
      if (greeting !== undefined) carrier.write(greeting);
      return;
    }
    carrier.write(SSL_REQUEST);
    carrier.once('data', (answer: Buffer) => {
      if (answer.toString() !== 'S' || carrier.destroyed) return;
      this.#socket = over(raw).socket;
      carry(this.#socket, carrier);
      if (greeting !== undefined) this.#socket.write(greeting);
    });
  }

  get isOver(): boolean {
    return this.#carrier.destroyed;
  }

  acts(dice: Dice, words: readonly Uint8Array[]): readonly Act[] {
    const [socket, carrier] = [this.#socket, this.#carrier];
    const say = (): unknown => socket.writable && socket.write(dice.pick(words));
    return [
      say,
      say,
      say,
      say,
      say,
      () => socket.pause(),
      () => socket.resume(),
      () => socket.end(),
      () => carrier.destroy(),
      () => this.reset(),
      () => {
        say();
        this.reset();
      },
    ];
  }

  reset(): void {
    resetSocket(this.#socket);
  }
}

export interface RudeClientsInputs {
  readonly dice: Dice;
  readonly at: (pool: string) => Address;
  readonly isTls: boolean;
  /** Their messages. Default: WORDS. */
  readonly words?: readonly Uint8Array[] | undefined;
  /** Their first message. Default: one of `words`, when its turn has come. */
  readonly greeting?: Uint8Array;
}

export class RudeClients {
  readonly #inputs: RudeClientsInputs;
  readonly #clients: RudeClient[] = [];

  constructor(inputs: RudeClientsInputs) {
    this.#inputs = inputs;
  }

  connect(): void {
    const { dice, at, isTls, greeting } = this.#inputs;
    this.#clients.push(new RudeClient(at(dice.pick(['write', 'read'])), isTls && dice.isLucky(0.8), greeting));
  }

  /** One of those that are still there does something. */
  act(): void {
    const { dice, words = WORDS } = this.#inputs;
    const present = this.#clients.filter(({ isOver }) => !isOver);
    if (present.length > 0) dice.pick(dice.pick(present).acts(dice, words))();
  }

  resetAll(): void {
    for (const client of this.#clients) client.reset();
  }
}

const ANSWERS: readonly Uint8Array[] = [
  Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]),
  Buffer.concat([COMMAND_COMPLETE, readyForQuery('T')]),
  encodeErrorResponse({ sqlState: '57P01', message: 'terminating connection due to administrator command' }),
  MUCH,
];

const BEHAVIOURS: readonly FakeBackend['behaviour'][] = [
  'obliging',
  'obliging',
  'obliging',
  'echo',
  'silent',
  'polite',
  'stalled',
  'stopping',
  'full',
  'gone',
  'standby',
];

export class RudeServers {
  readonly #dice: Dice;
  readonly #backends: readonly FakeBackend[];
  readonly #usual: FakeBackend['behaviour'] | undefined;

  /** `usual`: the behaviour that is as likely as all others together. */
  constructor(dice: Dice, backends: readonly FakeBackend[], usual?: FakeBackend['behaviour']) {
    this.#dice = dice;
    this.#backends = backends;
    this.#usual = usual;
  }

  /** One of them does something, to one of its sessions or to those that come. */
  act(): void {
    const dice = this.#dice;
    const backend = dice.pick(this.#backends);
    const open = backend.connections.filter(({ isClosed }) => !isClosed);
    if (open.length === 0 || dice.isLucky(0.2))
      backend.behaviour = this.#usual !== undefined && dice.isLucky(0.5) ? this.#usual : dice.pick(BEHAVIOURS);
    else dice.pick(actsOf(dice.pick(open), dice))();
  }

  resetAll(): void {
    for (const { connections } of this.#backends) for (const { socket } of connections) resetSocket(socket);
  }
}

function actsOf({ socket }: BackendConnection, dice: Dice): readonly Act[] {
  const say = (): unknown => socket.writable && socket.write(dice.pick(ANSWERS));
  return [
    say,
    say,
    say,
    () => socket.pause(),
    () => socket.resume(),
    () => socket.end(),
    () => socket.destroy(),
    () => resetSocket(socket),
    () => {
      say();
      resetSocket(socket);
    },
  ];
}
