// The stage of a session while its client logs in on two connections that Pointsman joins (wire/talk/two-leg-login.ts):
// between the connect and the relay. Each message goes on as it is, or is answered here. The relay begins with the last
// one, and its taps are shown what came before.
import { isRefusal, type CloseReason, type RefusalReason } from '../../model/close-reason.ts';
import type { LoginResult } from '../../model/logins.ts';
import { shown } from '../../model/printable.ts';
import type { LoginEnd, TwoLegLogin, TwoLegStep } from '../../wire/talk/two-leg-login.ts';
import { roleOf } from '../../wire/startup/startup.ts';
import type { LoginRefusals } from '../connect/login-refusals.ts';
import type { ProxyDependencies, ProxyPolicy } from '../options.ts';
import type { RelayOpening } from '../relay/relay.ts';
import { serverText, type Server } from '../server.ts';
import { resetSocket, type ProxySocket } from '../socket.ts';
import type { Farewell, SessionControl, Stage } from '../stage.ts';
import type { RoleVerifiers } from './role-verifiers.ts';
import { twoLegLogin } from './two-legs.ts';

/** Bytes of the client, or those that it has got. */
export interface LoginTurn {
  readonly from: 'client' | 'server';
  readonly bytes: Uint8Array;
}

/** The parts of a proxy that logins share. */
export interface LoginServices extends Pick<ProxyDependencies, 'onEvent' | 'onTrigger'> {
  readonly policy: () => Pick<ProxyPolicy, 'logins'>;
  readonly verifiers: RoleVerifiers;
  readonly refusals: Pick<LoginRefusals, 'note'>;
}

export interface LoggingInOptions {
  readonly session: SessionControl;
  readonly client: ProxySocket;
  readonly backend: ProxySocket;
  readonly server: Server;
  /** The client's, without its port. */
  readonly address: string;
  readonly opening: RelayOpening;
  readonly services: LoginServices;
  readonly refusal: (reason: RefusalReason, detail: string | undefined) => Uint8Array;
  /** The relay begins with `opening`, behind `turns`. */
  readonly onRelay: (opening: RelayOpening, turns: readonly LoginTurn[]) => void;
}

/** A login is shorter. The rest waits in the socket of the client. Bytes. */
const MOST_BYTES = 128 * 1024;

export class LoggingIn implements Stage {
  readonly #options: LoggingInOptions;
  readonly #role: string;
  readonly #login: TwoLegLogin;
  readonly #turns: LoginTurn[] = [];
  #fromClient = 0;
  #isAsked = false;
  #hasEnded: boolean;
  #why: string | undefined;

  constructor(options: LoggingInOptions) {
    const { client, backend, address, opening, services } = options;
    this.#options = options;
    this.#role = roleOf(opening.packet ?? new Uint8Array(0));
    this.#login = twoLegLogin({ client, backend, address, role: this.#role }, services.policy().logins);
    this.#hasEnded = opening.hasEnded;
  }

  start(): void {
    const { client, backend, opening } = this.#options;
    const { packet, bytes, firstReply } = opening;
    client.on('data', this.#receivedFromClient).on('end', this.#endOfClient).on('close', this.#clientClosed);
    backend.on('data', this.#receivedFromServer).on('end', this.#serverClosed).on('close', this.#serverClosed);
    if (firstReply === undefined && packet !== undefined) backend.write(packet);
    backend.resume();
    if (bytes.length > 0) this.#take(this.#login.fromClient(bytes));
    if (firstReply !== undefined && firstReply.bytes.length > 0) this.#take(this.#login.fromServer(firstReply.bytes));
  }

  client(): ProxySocket {
    return this.#options.client;
  }

  left(to: string): void {
    const { client, backend } = this.#options;
    client.off('data', this.#receivedFromClient).off('end', this.#endOfClient).off('close', this.#clientClosed);
    backend.off('data', this.#receivedFromServer).off('end', this.#serverClosed).off('close', this.#serverClosed);
    this.#login.clear();
    if (to !== 'relaying') resetSocket(backend);
  }

  /** Each message that the client has got was whole. */
  farewell(reason: CloseReason, detail?: string): Farewell | undefined {
    const { client, refusal } = this.#options;
    if (!isRefusal(reason) || !client.writable) return undefined;
    return { reason, detail, client, message: refusal(reason, detail) };
  }

  drop(): void {
    const { client, backend } = this.#options;
    client.destroy();
    backend.destroy();
  }

  /** Its challenge is the one of this server: it does not begin anew at another one, and a drain waits for its end. */
  reroute(mustLeave: boolean): void {
    const { session, server } = this.#options;
    if (mustLeave) session.end('connect_failed', `${serverText(server)} left the pool during the login`);
  }

  readonly #receivedFromClient = (chunk: Uint8Array): void => {
    this.#fromClient += chunk.length;
    if (this.#fromClient > MOST_BYTES) this.#options.client.pause();
    this.#take(this.#login.fromClient(chunk));
  };

  readonly #receivedFromServer = (chunk: Uint8Array): void => this.#take(this.#login.fromServer(chunk));

  readonly #endOfClient = (): void => {
    this.#hasEnded = true;
    this.#leaveUnanswered();
  };

  readonly #clientClosed = (): void => this.#options.session.cut(this.#hasEnded ? 'client_closed' : 'client_reset');

  readonly #serverClosed = (): void => {
    const { session, server, services } = this.#options;
    if ('member' in server) {
      services.onTrigger({ kind: 'backend_closed', member: server.member });
      services.refusals.note(session, server.member, undefined);
    }
    session.end('backend_refused', `${serverText(server)} closed the connection during the login`);
  };

  #take(step: TwoLegStep): void {
    const { session, client, backend } = this.#options;
    if (session.state !== 'dialing') return undefined;
    const { toClient, toServer, taken, asksForVerifier, end } = step;
    if (taken.length > 0) this.#turns.push({ from: 'client', bytes: taken });
    if (asksForVerifier) void this.#askForVerifier();
    if (end?.kind === 'relay') return this.#relay(end, step);
    if (toServer.length > 0) backend.write(toServer);
    if (toClient.length > 0) {
      this.#isAsked = true;
      this.#turns.push({ from: 'server', bytes: toClient });
      client.write(toClient);
    }
    if (end === undefined) return this.#leaveUnanswered();
    this.#report(end);
    return session.end(end.fault, end.detail);
  }

  async #askForVerifier(): Promise<void> {
    const { server, services } = this.#options;
    const lookup = await services.verifiers.find(server, this.#role);
    if (lookup.kind !== 'found') this.#why = lookup.why;
    if (lookup.kind === 'found') this.#take(this.#login.verifier(lookup.verifier));
    else this.#take(this.#login.verifier(lookup.kind === 'refused' ? 'none' : 'failed'));
    if (lookup.kind === 'found') lookup.verifier.fill(0);
  }

  #relay(end: LoginEnd, { toClient, toServer }: TwoLegStep): void {
    const { backend, opening, onRelay } = this.#options;
    this.#report(end);
    backend.pause();
    onRelay({ ...opening, hasEnded: this.#hasEnded, bytes: toServer, firstReply: { bytes: toClient } }, this.#turns);
  }

  #report(end: LoginEnd): void {
    const { session, services } = this.#options;
    const { id, pool } = session;
    const [result, role] = [resultOf(end), shown(this.#role)];
    services.onEvent({ kind: 'login_ended', pool, session: id, way: end.way, result, role, why: this.#why });
  }

  /** The server waits for an answer that cannot come. */
  #leaveUnanswered(): void {
    if (this.#hasEnded && this.#isAsked) this.#options.session.cut('client_closed');
  }
}

function resultOf(end: LoginEnd): LoginResult {
  if (end.kind === 'refused') return 'refused';
  if (end.way !== 'verifier') return 'relayed';
  return end.isAccepted ? 'accepted' : 'refused';
}
