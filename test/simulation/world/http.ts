// The exchange of requests with a management API, and the question whether a port accepts connections, as the functions
// that src/patroni/ makes of sockets: their results have the same words.
import type { Address } from '../../../src/model/member.ts';
import type { PortState } from '../../../src/model/observation.ts';
import type { HttpResult, Request } from '../../../src/patroni/http.ts';
import type { SimulatedHost } from './host.ts';
import { ERRNO, type Lane } from './tcp-end.ts';

export interface HttpQuestion {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export type HttpAnswer = { readonly status: number; readonly body: string } | 'silent';

/** `from`: the address of the host that asks. */
export type AnswerHttp = (question: HttpQuestion, from: string) => HttpAnswer | Promise<HttpAnswer>;

/** Longer than this, and the process itself has stood still. Milliseconds. As in src/patroni/deadline.ts. */
const STALL_MS = 250;

/** A server of HTTP on one port. */
export class SimulatedHttpServer {
  readonly #host: SimulatedHost;
  readonly #answer: AnswerHttp;
  readonly #onEnd = new Set<() => void>();
  #isClosed = false;

  constructor(host: SimulatedHost, answer: AnswerHttp) {
    this.#host = host;
    this.#answer = answer;
  }

  /** `undefined`: the connection was reset. */
  take(question: HttpQuestion, from: string, reply: (answer: HttpAnswer | undefined) => void): void {
    if (this.#isClosed) return reply(undefined);
    const ended = (): void => reply(undefined);
    this.#onEnd.add(ended);
    this.#host.soon(() => {
      if (this.#isClosed) return;
      void this.#answerTo(question, from, (answer) => {
        if (this.#onEnd.delete(ended)) reply(answer);
      });
    });
  }

  async #answerTo(question: HttpQuestion, from: string, reply: (answer: HttpAnswer) => void): Promise<void> {
    reply(await this.#answer(question, from));
  }

  /** Nobody is told. */
  vanish(): void {
    this.#isClosed = true;
    this.#onEnd.clear();
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#onEnd) end();
    this.#onEnd.clear();
  }
}

/** Never rejects. */
export function request(from: SimulatedHost, request: Request): Promise<HttpResult> {
  const { api, path, method = 'GET', body, deadlineMs, connectMs = deadlineMs, onConnected, onSent } = request;
  const { promise, resolve } = Promise.withResolvers<HttpResult>();
  const { clock } = from;
  const isAlive = from.lifeOfProcess();
  const to = from.hostAt(api.address.host);
  const lanes: [Lane, Lane] = [{ lastArrival: 0 }, { lastArrival: 0 }];
  const timers: (() => void)[] = [];
  let isOver = false;
  const finish = (result: HttpResult): void => {
    if (isOver) return;
    isOver = true;
    for (const cancel of timers) cancel();
    resolve(result);
  };
  const expireAfter = (ms: number, detail: string): void => {
    const due = clock.now() + ms;
    const expired = (): void => {
      const lateMs = Math.round(clock.now() - due);
      const stalled = `this process stood still for ${lateMs} ms of the request`;
      if (lateMs > STALL_MS) finish({ kind: 'failed', cause: 'local', detail: stalled });
      else finish({ kind: 'failed', cause: 'timeout', detail });
    };
    timers.push(from.limitRequest(ms, expired));
  };
  /** Comes back to the process that asked. */
  const back = (run: () => void): void => {
    if (to !== undefined) to.carry(from, lanes[1], () => isAlive() && from.soon(() => !isOver && run()));
  };
  expireAfter(deadlineMs, `no whole answer within ${deadlineMs} ms`);
  if (connectMs < deadlineMs) expireAfter(connectMs, `no connection within ${connectMs} ms`);
  if (to === undefined || !from.sends(to)) return promise;
  const replied = (answer: HttpAnswer | undefined): void => {
    if (answer === 'silent') return;
    const reset: HttpResult = { kind: 'failed', cause: 'reset', detail: 'connection reset' };
    back(() => finish(answer === undefined ? reset : { kind: 'answered', ...answer }));
  };
  const connected = (server: SimulatedHttpServer): void => {
    timers.splice(1).forEach((cancel) => cancel());
    onConnected?.();
    onSent?.();
    from.carry(to, lanes[0], () => server.take({ method, path, body }, from.address, replied));
  };
  from.carry(to, lanes[0], () => {
    const server = to.httpServer(api.address.port);
    // The kernel connects, also while the process of the server is frozen.
    if (to.sends(from)) back(() => (server === undefined ? finish({ kind: 'refused' }) : connected(server)));
  });
  return promise;
}

/** Never rejects. As `askPort` of src/patroni/port-state.ts. */
export function askPort(from: SimulatedHost, address: Address | undefined, deadlineMs: number): Promise<PortState> {
  if (address === undefined) return Promise.resolve('unknown');
  const { promise, resolve } = Promise.withResolvers<PortState>();
  const due = from.clock.now() + deadlineMs;
  const socket = from.connect(address.port, address.host);
  const finish = (state: PortState): void => {
    cancel();
    socket.destroy();
    resolve(state);
  };
  const expired = (): void => finish(from.clock.now() - due > STALL_MS ? 'unknown' : 'silent');
  const cancel = from.clock.schedule(deadlineMs, expired);
  socket.once('connect', () => finish('accepts'));
  socket.once('error', (error) =>
    finish('errno' in error && error.errno === ERRNO.ECONNREFUSED ? 'refused' : 'silent'),
  );
  return promise;
}
