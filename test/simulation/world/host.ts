// A simulated machine: the sockets of its kernel, its clocks, and one process on it, which can be frozen. A crash ends
// all of it without a word to anybody.
import { AsyncResource } from 'node:async_hooks';
import { Socket, type Server, type ServerOpts, type SocketConstructorOpts } from 'node:net';
import type { Clock } from '../../../src/model/instant.ts';
import type { Address } from '../../../src/model/member.ts';
import type { PortState } from '../../../src/model/observation.ts';
import type { HttpResult, Request } from '../../../src/patroni/http.ts';
import { askPort, request, SimulatedHttpServer, type AnswerHttp } from './http.ts';
import { KernelHandle, ListenHandle, type HandleProcess, type SentBytes } from './kernel-handle.ts';
import type { SimulatedNetwork } from './network.ts';
import type { Random } from './random.ts';
import { SimulatedServer } from './simulated-server.ts';
import { ERRNO, type Lane, type TcpEnd, type TcpHost } from './tcp-end.ts';
import type { Wiretap } from './wiretap.ts';

export interface HostOptions {
  readonly name: string;
  readonly address: string;
  readonly network: SimulatedNetwork;
  readonly random: Random;
}

interface Waiting {
  readonly isTimer: boolean;
  readonly run: () => void;
}

type Accept = (end: TcpEnd) => void;

const FIRST_FREE_PORT = 32_768;
const FIRST_RETRANSMISSION_MS = 200;
/** The share of its timers with which a busy time of a process begins. */
const BUSY_SHARE = 0.3;

export class SimulatedHost implements TcpHost, HandleProcess {
  readonly name: string;
  /** The network may give it another one. */
  address: string;
  /** Timers are as coarse as libuv's: whole milliseconds, up to one early. Goes on while the host is frozen. */
  readonly clock: Clock;
  readonly #network: SimulatedNetwork;
  readonly #random: Random;
  readonly #ends = new Set<TcpEnd>();
  readonly #timers = new Set<object>();
  #requestTimers = 0;
  readonly #ports = new Map<number, Accept[]>();
  readonly #httpServers = new Map<number, SimulatedHttpServer>();
  #isUp = true;
  #isFrozen = false;
  /** Things that are due when the process runs again. */
  #waiting: Waiting[] = [];
  /** Tells what belongs to a process before a crash. */
  #life = 0;
  #nextPort = FIRST_FREE_PORT;
  /** Sees the bytes of its connections. */
  wiretap: Wiretap | undefined;
  /** The local clock: `at` local milliseconds at the true time `since`. */
  #monotonic: { at: number; since: number; rate: number };
  #wall = { at: Date.UTC(2026, 0, 1), since: 0 };
  /** All steps of the wall clock together. Milliseconds. */
  steppedByMs = 0;
  /** Timers are late by so much at most. Milliseconds. */
  #mostLate = 0;
  #busyUntil = -Infinity;

  constructor({ name, address, network, random }: HostOptions) {
    this.name = name;
    this.address = address;
    this.#network = network;
    this.#random = random;
    this.#monotonic = { at: random.between(1e5, 1e7), since: 0, rate: 1 };
    this.clock = { now: () => this.#localNow(), schedule: (delayMs, run) => this.#timer(delayMs, run) };
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  wallClock(): number {
    return Math.floor(this.#wall.at + (this.now() - this.#wall.since));
  }

  /** Somebody, or NTP, sets the clock. */
  stepWallClock(byMs: number): void {
    this.#wall = { at: this.wallClock() + byMs, since: this.now() };
    this.steppedByMs += byMs;
  }

  /** The monotonic clock runs so fast from now on: 1.001 gains a millisecond in a second. */
  driftAt(rate: number): void {
    this.#monotonic = { at: this.#localNow(), since: this.now(), rate };
  }

  /**
   * The process is busy now and then, for so long at most: it serves its sockets, and what its timers are for comes
   * behind that, as in libuv's phase of polling. Milliseconds.
   */
  isBusyUpTo(mostMs: number): void {
    this.#mostLate = mostMs;
  }

  /** The kernel goes on: it accepts connections and takes bytes. No process runs. */
  freeze(): void {
    this.#isFrozen = true;
  }

  /**
   * The process catches up. Stopped in its phase of polling, it serves the sockets first, as libuv does; stopped
   * elsewhere, its timers.
   */
  thaw(): void {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    const waiting = this.#waiting.splice(0);
    const timersFirst = this.#random.chance(0.5);
    const first = waiting.filter(({ isTimer }) => isTimer === timersFirst);
    const then = waiting.filter(({ isTimer }) => isTimer !== timersFirst);
    for (const { run, isTimer } of [...first, ...then]) this.schedule(0, () => this.#run(run, isTimer));
  }

  /** Its processes are killed, and the kernel closes their sockets. */
  endProcesses(): void {
    this.#life += 1;
    this.#timers.clear();
    this.#requestTimers = 0;
    this.#waiting = [];
    this.#isFrozen = false;
    for (const end of this.#ends) end.close();
    this.#ends.clear();
    this.#ports.clear();
    for (const server of this.#httpServers.values()) server.close();
    this.#httpServers.clear();
  }

  /** The machine is without power: nobody is told, and nothing that ran here runs again. */
  crash(): void {
    this.#isUp = false;
    this.#isFrozen = false;
    this.#life += 1;
    this.#timers.clear();
    this.#requestTimers = 0;
    this.#waiting = [];
    for (const end of this.#ends) end.vanish();
    this.#ends.clear();
    this.#ports.clear();
    this.#network.hostIsDown(this);
    for (const server of this.#httpServers.values()) server.vanish();
    this.#httpServers.clear();
  }

  boot(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#monotonic = { ...this.#monotonic, at: this.#random.between(1e3, 1e5), since: this.now() };
    this.#network.hostIsUp(this);
  }

  /** A server of Node on a port of this host. */
  createServer(options: ServerOpts = {}): Server {
    return new SimulatedServer(options, (port, isShared) => this.#listenHandle(port, isShared));
  }

  /** A socket of Node that can be connected to other hosts of the network. */
  createSocket(options: SocketConstructorOpts = {}, onSent?: SentBytes): Socket {
    const handle = new KernelHandle(this, undefined, onSent);
    // The types of Node do not know a handle.
    const socket: unknown = Reflect.construct(Socket, [{ ...options, handle, manualStart: true }]);
    if (socket instanceof Socket) return socket;
    throw new Error('Node has no sockets any more.');
  }

  /** Half-open connections are allowed, as in Pointsman. */
  connect(port: number, to: SimulatedHost | string): Socket;
  /** For handles. */
  connect(address: string, port: number, onResult: (result: TcpEnd | number) => void): TcpEnd;
  connect(
    ...args: [port: number, to: SimulatedHost | string] | [string, number, (result: TcpEnd | number) => void]
  ): Socket | TcpEnd {
    if (args.length === 3) return this.#connect(...args);
    const [port, to] = args;
    return this.createSocket({ allowHalfOpen: true }).connect({ port, host: typeof to === 'string' ? to : to.address });
  }

  /** Returns the close. */
  listen(port: number, accept: (socket: Socket) => void): () => void {
    const server = this.createServer({ allowHalfOpen: true });
    server.on('connection', accept).listen({ port });
    return () => void server.close();
  }

  /** Returns the close, which resets the requests that have no answer. */
  serveHttp(port: number, answer: AnswerHttp): () => void {
    const server = new SimulatedHttpServer(this, answer);
    this.#httpServers.set(port, server);
    return () => {
      if (this.#httpServers.get(port) === server) this.#httpServers.delete(port);
      server.close();
    };
  }

  httpServer(port: number): SimulatedHttpServer | undefined {
    return this.#httpServers.get(port);
  }

  /** Never rejects. */
  request(asked: Request): Promise<HttpResult> {
    return request(this, asked);
  }

  /** Whether a port accepts connections. Never rejects. */
  askPort(address: Address | undefined, deadlineMs: number): Promise<PortState> {
    return askPort(this, address, deadlineMs);
  }

  hostAt(address: string): SimulatedHost | undefined {
    return this.#network.hostAt(address);
  }

  /** Whether the process that runs now still exists. */
  lifeOfProcess(): () => boolean {
    const life = this.#life;
    return () => life === this.#life;
  }

  /** A packet to there arrives now. */
  sends(to: SimulatedHost): boolean {
    return this.#network.isOpen(this, to);
  }

  /** The process that listens there takes a new connection. False: nobody listens. */
  accept(port: number, from: TcpEnd): boolean {
    const listeners = this.#ports.get(port);
    if (listeners === undefined || listeners.length === 0) return false;
    const end = this.#network.newEnd(this, port, { address: from.host.address, port: from.port }, true);
    this.#ends.add(end);
    end.peer = from;
    from.peer = end;
    const take = this.#random.pick(listeners);
    this.soon(() => {
      if (!end.isDead || end.isReadable) take(end);
    });
    return true;
  }

  carry(to: Pick<TcpHost, 'address'>, lane: Lane, deliver: () => void): void {
    const host = this.#network.hostAt(to.address);
    if (host !== undefined) this.#network.carry(this, host, { lane, deliver });
  }

  reaches(to: Pick<TcpHost, 'address'>): boolean {
    const host = this.#network.hostAt(to.address);
    return host !== undefined && this.sends(host) && host.sends(this);
  }

  now(): number {
    return this.#network.timeline.now();
  }

  schedule(delayMs: number, run: () => void): () => void {
    return this.#network.timeline.schedule(delayMs, run);
  }

  soon(run: () => void): void {
    const life = this.#life;
    this.schedule(0, () => {
      if (life === this.#life) this.#run(run, false);
    });
  }

  /** Those of its processes. */
  connectionCount(): number {
    return [...this.#ends].filter(({ isClosed, isDead }) => !isClosed && !isDead).length;
  }

  timerCount(): number {
    return this.#timers.size;
  }

  /** Those among them that limit a request to an API. */
  requestTimers(): number {
    return this.#requestTimers;
  }

  /** Returns the cancel. */
  limitRequest(ms: number, expired: () => void): () => void {
    const life = this.#life;
    let isPending = true;
    const end = (): void => {
      if (isPending && life === this.#life) this.#requestTimers -= 1;
      isPending = false;
    };
    this.#requestTimers += 1;
    const cancel = this.clock.schedule(ms, () => {
      end();
      expired();
    });
    return () => {
      end();
      cancel();
    };
  }

  /** The kernel's table of connections whose bytes are not acknowledged, as the program reads it. */
  silentConnections(): ReadonlyMap<string, { readonly bytes: number; readonly attempts: number }> {
    const silent = new Map<string, { readonly bytes: number; readonly attempts: number }>();
    for (const end of this.#ends) {
      const { bytes, forMs } = end.silence();
      const attempts = Math.floor(forMs / FIRST_RETRANSMISSION_MS);
      const { peer, port, isDead } = end;
      if (peer === undefined || isDead || bytes === 0 || attempts === 0) continue;
      silent.set(`${end.address} ${port} ${peer.address} ${peer.port}`, { bytes, attempts });
    }
    return silent;
  }

  #run(run: () => void, isTimer: boolean): void {
    if (this.#isFrozen) this.#waiting.push({ run, isTimer });
    else run();
  }

  #localNow(): number {
    const { at, since, rate } = this.#monotonic;
    return at + (this.now() - since) * rate;
  }

  /** As libuv: its time is in whole milliseconds, and a delay is at least one. */
  #timer(delayMs: number, run: () => void): () => void {
    const life = this.#life;
    const local = this.#localNow();
    const due = Math.floor(local) + Math.max(1, Math.trunc(delayMs));
    let isCancelled = false;
    const context = new AsyncResource('SimulatedTimer');
    const timer = {};
    this.#timers.add(timer);
    const fire = (): void => {
      this.#timers.delete(timer);
      if (!isCancelled) context.runInAsyncScope(run);
    };
    const cancel = this.schedule((due - local) / this.#monotonic.rate, () => {
      if (life === this.#life) this.#timerIsDue(fire);
    });
    return () => {
      isCancelled = true;
      this.#timers.delete(timer);
      cancel();
    };
  }

  #timerIsDue(fire: () => void): void {
    const now = this.now();
    const begins = this.#mostLate > 0 && now >= this.#busyUntil && this.#random.chance(BUSY_SHARE);
    if (begins) this.#busyUntil = now + this.#random.between(1, this.#mostLate);
    if (now >= this.#busyUntil) return this.#run(fire, true);
    const life = this.#life;
    this.schedule(this.#busyUntil - now, () => {
      if (life === this.#life) this.#run(fire, true);
    });
    return undefined;
  }

  #connect(address: string, port: number, onResult: (result: TcpEnd | number) => void): TcpEnd {
    const end = this.#network.newEnd(this, (this.#nextPort += 1), { address, port }, false);
    this.#ends.add(end);
    const to = this.#network.hostAt(address);
    if (to !== undefined) {
      this.#network.connect(end, this, to, port, (errno) => this.soon(() => onResult(errno === 0 ? end : errno)));
    }
    return end;
  }

  #listenHandle(port: number, isShared: boolean): ListenHandle {
    const number = port === 0 ? (this.#nextPort += 1) : port;
    let accept: Accept | undefined;
    return new ListenHandle(this, {
      address: this.address,
      port: number,
      open: (onConnection) => {
        const others = this.#ports.get(number) ?? [];
        if (others.length > 0 && !isShared) return ERRNO.EADDRINUSE;
        accept = onConnection;
        this.#ports.set(number, [...others, accept]);
        return 0;
      },
      close: () =>
        this.#ports.set(
          number,
          (this.#ports.get(number) ?? []).filter((other) => other !== accept),
        ),
    });
  }
}
