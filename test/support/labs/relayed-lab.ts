// A session that is relayed to one server, without a network: the test speaks for both sides. It notes what each of
// them, and the rest of the proxy, is told.
import { Socket } from 'node:net';
import type { PoolPolicy } from '../../../src/model/policy.ts';
import { CancelKeys } from '../../../src/proxy/cancel/cancel-keys.ts';
import type { Cancels } from '../../../src/proxy/cancel/cancel.ts';
import { Conversation } from '../../../src/proxy/relay/conversation.ts';
import { Relayed, type MovingPart, type RelayedOptions } from '../../../src/proxy/relay/relayed.ts';
import type { RelayOpening } from '../../../src/proxy/relay/relay.ts';
import { StallGate } from '../../../src/proxy/relay/stall-gate.ts';
import type { Pipe, Receiver } from '../../../src/proxy/relay/stream-pipe.ts';
import type { Server } from '../../../src/proxy/server.ts';
import type { SessionControl } from '../../../src/proxy/stage.ts';
import type { Trigger } from '../../../src/reports/trigger.ts';
import { AUTHENTICATION_OK, backendKeyData, readyForQuery } from '../sockets/messages.ts';
import { aWritePool } from '../values/builders.ts';
import { aSessionHandle } from '../values/sessions.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

export const KEY = backendKeyData(7, Buffer.from('key!'));
export const LOGIN = Buffer.concat([AUTHENTICATION_OK, KEY, readyForQuery('I')]);
export const PG_1 = { member: 'pg-1', address: { host: 'pg-1', port: 5432 } };
export const BRANCH: Server = {
  branch: { id: 'br-1', name: 'pr-1' },
  address: { host: 'branch', port: 5432 },
  tls: 'off',
};

export interface RelayedLabOptions {
  readonly pool?: PoolPolicy;
  readonly server?: Server;
  readonly isReadable?: boolean;
  readonly moving?: MovingPart;
  /** Gets the time of each reply. */
  readonly onReply?: (durationMs: number) => void;
}

class NotingPipe implements Pipe {
  receiver: Receiver | undefined;
  isDetached = false;
  readonly #note: (text: string) => void;

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  start(receiver: Receiver): void {
    this.receiver = receiver;
  }

  send(bytes: Uint8Array): void {
    this.#note(Buffer.from(bytes).toString('latin1'));
  }

  pause(): void {}
  resume(): void {}
  flush(): void {}

  whenFlushed(end: () => void): void {
    end();
  }

  discard(): void {}
  closed(): void {}

  detach(): void {
    this.isDetached = true;
  }
}

export class RelayedLab {
  readonly clock = new ManualClock();
  /** All that happened, but what the two sides were sent. */
  readonly calls: string[] = [];
  readonly triggers: Trigger[] = [];
  readonly toServer: string[] = [];
  readonly toClient: string[] = [];
  readonly keys = new CancelKeys();
  readonly client = this.#socket('client');
  readonly backend = this.#socket('server');
  readonly traffic = { toBackendBytes: 0, toClientBytes: 0 };
  readonly pipes = {
    toBackend: new NotingPipe((text) => this.toServer.push(text)),
    toClient: new NotingPipe((text) => this.toClient.push(text)),
  };
  readonly conversation: Conversation;
  readonly relayed: Relayed;

  constructor({ pool = aWritePool(), server = PG_1, isReadable = true, moving, onReply }: RelayedLabOptions = {}) {
    const { clock, client, traffic } = this;
    const note = (call: string): void => void this.calls.push(call);
    const cancels: Pick<Cancels, 'keys' | 'cancelStatement'> = {
      keys: this.keys,
      cancelStatement: ({ server: at }) => note(`cancel request to ${at.address.host}`),
    };
    this.conversation = new Conversation({
      client,
      clock,
      isReadable,
      traffic,
      idleListeners: new Set(),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a key needs of them
      cancels: cancels as Cancels,
    });
    const services: RelayedOptions['services'] = {
      clock,
      onTrigger: (trigger) => this.triggers.push(trigger),
      stallGate: new StallGate({ clock, decideIfDue: () => note('decided'), freshen: () => undefined }),
      openPipes: () => this.pipes,
      registry: { traffic: (name) => (note(`traffic of ${name}`), { ...traffic }) },
      refusals: { note: (session, member, sqlState) => note(`${member} refused ${session.id}: ${sqlState}`) },
      latency: { listener: () => onReply },
      watchLimits: (session, { name }) => {
        note(`${session.id} is watched in ${name}`);
        return () => note('is watched no more');
      },
    };
    const record = {
      traffic,
      lost: () => note('lost'),
      reached: (member: string) => note(`reached ${member}`),
      database: () => 'app',
    };
    const { conversation, backend } = this;
    const session = this.#session();
    this.relayed = new Relayed({ session, client, backend, conversation, pool, server, record, services, moving });
  }

  /** The login is still to come. */
  start(changes: Partial<RelayOpening> = {}): void {
    this.relayed.start({ packet: Buffer.from('startup'), bytes: new Uint8Array(0), hasEnded: false, ...changes });
  }

  /** Its client has logged in. All notes until then are forgotten. */
  logIn(): void {
    this.start();
    this.fromServer(LOGIN);
    for (const list of [this.calls, this.toServer, this.toClient]) list.splice(0);
  }

  fromServer(bytes: Uint8Array): void {
    this.pipes.toClient.receiver?.receive(bytes);
  }

  fromClient(bytes: Uint8Array): void {
    this.pipes.toBackend.receiver?.receive(bytes);
  }

  /** Both sockets are closed, that of the server first. */
  close(): void {
    this.backend.emit('close');
    this.client.emit('close');
  }

  #session(): SessionControl {
    return {
      ...aSessionHandle({
        id: 7,
        end: (reason, detail) => this.calls.push(`end: ${reason}: ${detail}`),
        cut: (reason, detail) => this.calls.push(`cut: ${reason}: ${detail}`),
      }),
      assign() {},
      move: () => true,
    };
  }

  #socket(side: string): Socket {
    const socket = new Socket({ allowHalfOpen: true });
    return Object.assign(socket, {
      destroy: () => (this.calls.push(`${side} destroyed`), socket),
      destroySoon: () => this.calls.push(`${side} destroyed soon`),
      resetAndDestroy: () => (this.calls.push(`${side} reset`), socket),
      end: (bytes?: unknown) => (
        this.calls.push(`${side} ended${bytes instanceof Uint8Array ? ' with a word' : ''}`),
        socket
      ),
    });
  }
}
