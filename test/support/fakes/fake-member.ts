// A fake member: the management API as Patroni serves it (HTTP/1.0, the body ends with the connection, no keep-alive),
// in this process, with knobs. Written on sockets and not on an HTTP server, so that it can misbehave in every way.
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Member } from '../../../src/model/member.ts';
import { healthStatus, nodeStatusDocument } from './fake-member-answers.ts';
import { close } from '../sockets/listen.ts';

export interface FakeMemberState {
  role: 'primary' | 'master' | 'replica' | 'standby_leader' | 'demoted' | 'promoted' | 'uninitialized';
  /** Whether it holds the leader lock; Patroni's /primary asks this and not the role. */
  hasLock: boolean;
  state: string;
  timeline: number | undefined;
  /** `xlog.location` of a primary, the received position of a replica; bytes. */
  location: number;
  /** Replica: how far replay is behind `location`; bytes. */
  lagBytes: number;
  replicationState: string | undefined;
  tags: Record<string, unknown>;
  scope: string;
  version: string;
  systemIdentifier: string;
  dialect: 'patroni' | 'manager';
  /** Further keys of the status document: `pause`, `cluster_unlocked` … */
  extra: Record<string, unknown>;
  /** The /cluster document; undefined: 503 with the status document, as an unknown path gets. */
  cluster: unknown;
  history: unknown;
  config: unknown;
}

/** The fate of a request, instead of an answer. `drip` sends the head, then a byte at a time for ever. */
export type Misbehaviour =
  | 'hang'
  | 'reset'
  | 'close'
  | 'drip'
  | 'truncated'
  | 'truncated-json'
  | 'keep-open'
  | 'no-headers';

export interface FakeMemberBehaviour {
  /** Before each answer; milliseconds. */
  delayMs: number;
  misbehave: Misbehaviour | undefined;
  /** Sent word for word, then the connection ends; wins over everything but `misbehave`. */
  raw: string | Buffer | undefined;
}

export type FakeMemberKnobs = FakeMemberState & FakeMemberBehaviour;

const DEFAULTS: FakeMemberKnobs = {
  role: 'replica',
  hasLock: false,
  state: 'running',
  timeline: 1,
  location: 50_331_648,
  lagBytes: 0,
  replicationState: 'streaming',
  tags: {},
  scope: 'demo',
  version: '4.1.4',
  systemIdentifier: '7000000000000000001',
  dialect: 'patroni',
  extra: {},
  cluster: undefined,
  history: [],
  config: { ttl: 30, loop_wait: 10, retry_timeout: 10, maximum_lag_on_failover: 1_048_576 },
  delayMs: 0,
  misbehave: undefined,
  raw: undefined,
};

export class FakeMember {
  readonly name: string;
  readonly knobs: FakeMemberKnobs;
  /** `GET /primary` of each request, in order. */
  readonly requests: string[] = [];
  /** Whole request heads, in order. */
  readonly heads: string[] = [];
  /** Connections ever accepted. */
  connections = 0;
  /** The most that were open at one time. */
  mostOpen = 0;
  /** Where it listens; kept after it has stopped. */
  address = { host: '', port: 0 };
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(name: string, knobs: Partial<FakeMemberKnobs>) {
    this.name = name;
    this.knobs = { ...DEFAULTS, ...knobs };
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Listens on a free port of 127.0.0.1, or where told. A primary holds the leader lock unless told otherwise. */
  static async start(
    name: string,
    knobs: Partial<FakeMemberKnobs> = {},
    at: { host?: string; port?: number; backlog?: number } = {},
  ): Promise<FakeMember> {
    const hasLock = knobs.hasLock ?? (knobs.role === 'primary' || knobs.role === 'master');
    const member = new FakeMember(name, { ...knobs, hasLock });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    member.#server.once('error', reject);
    member.#server.listen({ port: 0, host: '127.0.0.1', ...at }, resolve);
    await promise;
    const bound = member.#server.address();
    if (bound !== null && typeof bound === 'object') member.address = { host: bound.address, port: bound.port };
    return member;
  }

  get url(): string {
    return `http://${this.address.host}:${this.address.port}`;
  }

  /** Connections open now. */
  get open(): number {
    return this.#open.size;
  }

  set(knobs: Partial<FakeMemberKnobs>): void {
    Object.assign(this.knobs, knobs);
  }

  /** As the core knows it. */
  member(postgres?: { host: string; port: number }): Member {
    return { name: this.name, api: { url: this.url, address: this.address }, postgres, origin: 'configured' };
  }

  /** Its entry in a /cluster document. */
  entry(more: Record<string, unknown> = {}): Record<string, unknown> {
    const { hasLock, state, timeline, tags, replicationState } = this.knobs;
    return {
      name: this.name,
      role: hasLock ? 'leader' : 'replica',
      state: hasLock ? state : (replicationState ?? state),
      api_url: `${this.url}/${this.knobs.dialect}`,
      host: this.address.host,
      port: 5432,
      timeline,
      tags,
      ...more,
    };
  }

  /** Stops listening and drops every connection: from now on the port refuses. Idempotent. */
  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    if (!this.#server.listening) return;
    await close(this.#server);
  }

  #accept(socket: Socket): void {
    this.connections += 1;
    this.#open.add(socket);
    this.mostOpen = Math.max(this.mostOpen, this.#open.size);
    socket.on('close', () => this.#open.delete(socket));
    socket.on('error', () => {});
    let head = '';
    socket.on('data', (bytes) => {
      const isWhole = head.includes('\r\n\r\n');
      head += bytes.toString('latin1');
      if (isWhole || !head.includes('\r\n\r\n')) return;
      this.heads.push(head);
      const [method = '', path = ''] = head.split(' ');
      this.requests.push(`${method} ${path}`);
      if (this.knobs.delayMs === 0) this.#answer(socket, path);
      else setTimeout(() => this.#answer(socket, path), this.knobs.delayMs).unref();
    });
  }

  #answer(socket: Socket, path: string): void {
    if (socket.destroyed) return;
    const { misbehave, raw } = this.knobs;
    const { status, body } = this.#document(path);
    switch (misbehave) {
      case 'hang':
        return;
      case 'reset':
        socket.resetAndDestroy();
        return;
      case 'close':
        socket.end();
        return;
      case 'drip':
        return drip(socket, body);
      case 'truncated':
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length + 1}\r\n\r\n${body}`);
        return;
      case 'truncated-json':
        socket.end(`HTTP/1.0 200 OK\r\n\r\n${body.slice(0, -5)}`);
        return;
      case 'keep-open':
        socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        return;
      case 'no-headers':
        socket.end(`HTTP/1.0 ${status} X\r\n\r\n`);
        return;
      case undefined:
        socket.end(raw ?? answerText(path, status, body));
    }
  }

  #document(path: string): { status: number; body: string } {
    const { knobs } = this;
    const bare = path.split('?')[0] ?? path;
    const documents: Record<string, unknown> = {
      '/cluster': knobs.cluster,
      '/history': knobs.history,
      '/config': knobs.config,
    };
    const document = Object.hasOwn(documents, bare) ? documents[bare] : undefined;
    if (document !== undefined) return { status: 200, body: JSON.stringify(document) };
    return { status: healthStatus(knobs, path), body: JSON.stringify(nodeStatusDocument(this.name, knobs)) };
  }
}

/** /liveness and /readiness are exactly a status line. */
function answerText(path: string, status: number, body: string): string {
  const line = `HTTP/1.0 ${status} ${status === 200 ? 'OK' : 'Service Unavailable'}\r\n`;
  if (/^\/(?:liveness|readiness)\b/.test(path)) return `${line}\r\n`;
  const date = new Date().toUTCString();
  return `${line}Server: BaseHTTP/0.6 Python/3.11.2\r\nDate: ${date}\r\nContent-Type: application/json\r\n\r\n${body}`;
}

function drip(socket: Socket, body: string): void {
  socket.write('HTTP/1.0 200 OK\r\n\r\n');
  let sent = 0;
  const timer = setInterval(() => {
    socket.write(body[sent] ?? ' ');
    sent += 1;
  }, 5);
  socket.on('close', () => clearInterval(timer));
}
