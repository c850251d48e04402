// The conversation of a session with a client, a relay and taps that note what they are told.
import type { Socket } from 'node:net';
import type { Cancels } from '../../../src/proxy/cancel/cancel.ts';
import { Conversation } from '../../../src/proxy/relay/conversation.ts';
import type { RelayConversationOptions, Tap, TransactionGate } from '../../../src/proxy/relay/conversation.ts';
import type { Relay } from '../../../src/proxy/relay/relay.ts';
import { SessionMemory } from '../../../src/wire/follow/session-memory.ts';
import type { ShownReadWait } from '../../../src/reports/session-list.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, QUERY, readyForQuery } from '../sockets/messages.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

export const ANSWER = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);
export const TWO_QUERIES = Buffer.concat([QUERY, QUERY]);
export const SERVER = { member: 'pg-1', address: { host: '127.0.0.1', port: 1 } };
export const WAITING_READ: ShownReadWait = {
  since: 7,
  scope: 'cluster',
  member: 'pg-1',
  reason: 'behind',
  primary: undefined,
  mustShow: undefined,
  behindBytes: undefined,
  isLate: false,
  why: 'pg-1 is behind',
};

export class ConversationLab {
  /** All that was told to the client, the server and others, in its order. */
  readonly order: string[] = [];
  readonly idleListeners = new Set<() => void>();
  readonly clock = new ManualClock();
  readonly traffic = { toBackendBytes: 0, toClientBytes: 0 };
  readonly client = { writable: true, write: this.#notes('client') };
  /** `waiting`: statements that can be taken out. */
  readonly relay = { isWhole: true, waiting: 0 };
  conversation = this.with();

  /** Another conversation, of this lab from now on. */
  with(options: Partial<RelayConversationOptions> = {}): Conversation {
    this.conversation = new Conversation({
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a conversation needs of a client
      client: this.client as Partial<Socket> as Socket,
      clock: this.clock,
      isReadable: true,
      traffic: this.traffic,
      idleListeners: this.idleListeners,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no key is told
      cancels: {} as Cancels,
      ...options,
    });
    return this.conversation;
  }

  logIn(...taps: readonly Tap[]): void {
    this.conversation.readAlong(new SessionMemory(), taps);
    this.conversation.fromBackend(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
    this.order.splice(0);
  }

  /** Its session has a server. */
  relays(): void {
    const calls: Pick<Relay, 'isWhole' | 'tellBackend' | 'tellClient' | 'cancelWaiting'> = {
      isWhole: () => this.relay.isWhole,
      tellBackend: this.#notes('server by relay'),
      tellClient: this.#notes('client by relay'),
      cancelWaiting: () => {
        this.relay.waiting -= 1;
        return this.relay.waiting >= 0;
      },
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a conversation needs of a relay
    this.conversation.relaysBy(calls as Relay);
  }

  tap(name: string, read: (chunk: Uint8Array) => Uint8Array | undefined = (chunk) => chunk): Tap {
    return {
      fromClient: (bytes) => void this.order.push(`${name} < ${bytes.length}`),
      fromServer: (chunk) => {
        this.order.push(`${name} > ${chunk.length}`);
        return read(chunk);
      },
    };
  }

  /** `passes`: whether bytes that have come may pass. */
  transactionGate(passes: () => boolean = () => true): TransactionGate {
    const note =
      (call: string): (() => void) =>
      () =>
        void this.order.push(call);
    return {
      startsAt: ({ address }, inner) => {
        this.order.push(`starts at ${address.host}`);
        return inner;
      },
      relaysBy: note('relays'),
      leaves: note('leaves'),
      takesPass: passes,
      holds: note('holds'),
      cancelled: note('cancelled'),
      passedToClient: note('passed'),
      waiting: () => WAITING_READ,
    };
  }

  #notes(side: string): (bytes: Uint8Array) => void {
    return (bytes) => void this.order.push(`${side}: ${bytes.length}`);
  }
}
