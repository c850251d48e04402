// A plain-text session through its startup, before a fake backend that sends nothing by itself: the test speaks for the
// server.
import type { Address } from '../../../src/model/member.ts';
import type { BackendConnection, FakeBackend } from '../fakes/fake-backend.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, QUERY, readyForQuery } from '../sockets/messages.ts';
import { aStartup, errorFields } from '../sockets/packets.ts';
import { connectRaw } from '../sockets/raw-client.ts';
import type { RawClient } from '../sockets/raw-client.ts';
import { until } from '../waiting/until.ts';

export const GREETING = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);

export class GreetedSession {
  readonly client: RawClient;
  readonly server: BackendConnection;
  /** The server's bytes so far. */
  #relayed = GREETING.length;

  private constructor(client: RawClient, server: BackendConnection) {
    this.client = client;
    this.server = server;
  }

  /** On any of the backends. */
  static async open(at: Address, ...backends: readonly FakeBackend[]): Promise<GreetedSession> {
    const before = backends.map(({ connections }) => connections.length);
    const client = await connectRaw(at);
    client.socket.write(aStartup());
    const reached = await until('the startup', () =>
      backends.find((one, i) => one.connections.length > (before[i] ?? 0) && one.last().chunks.length > 0),
    );
    const session = new GreetedSession(client, reached.last());
    session.server.socket.write(GREETING);
    await until('the greeting', () => client.received().equals(GREETING));
    return session;
  }

  async ask(): Promise<void> {
    const before = this.server.received().length;
    this.client.socket.write(QUERY);
    await until('the query', () => this.server.received().length === before + QUERY.length);
  }

  /** `status`: of the transaction, as ReadyForQuery has it. */
  async answer(status: string): Promise<void> {
    const words = Buffer.concat([COMMAND_COMPLETE, readyForQuery(status)]);
    this.server.socket.write(words);
    this.#relayed += words.length;
    await until('the answer', () => this.client.received().length >= this.#relayed);
  }

  /** The bytes that the client read after the server's; the client hangs up then. */
  async lastWords(): Promise<Readonly<Record<string, string>>> {
    const words = await until('the last words', () => errorFields(this.client.received().subarray(this.#relayed)));
    this.client.socket.end();
    return words;
  }
}
