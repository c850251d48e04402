// The end of a session's first stage: its server has taken it in. The relay follows, or before it a login on two TLS
// connections.
import type { RefusalReason } from '../model/close-reason.ts';
import type { PoolPolicy } from '../model/policy.ts';
import type { ProxyParts } from './assembly.ts';
import type { FirstReply } from './connect/first-reply.ts';
import { LoggingIn, type LoginTurn } from './login/logging-in.ts';
import { hasTwoLegs } from './login/two-legs.ts';
import type { Adoption } from './moves/load-mover.ts';
import { Conversation } from './relay/conversation.ts';
import type { RelayOpening } from './relay/relay.ts';
import { Relayed, type MovingPart } from './relay/relayed.ts';
import type { Server } from './server.ts';
import type { SessionRecord } from './session-record.ts';
import type { ProxySocket } from './socket.ts';
import type { SessionControl } from './stage.ts';
import type { StartupHandOver } from './startup/client-startup.ts';

/** Parts that a session keeps from stage to stage. */
export interface SessionParts {
  readonly session: SessionControl;
  readonly record: SessionRecord;
  readonly idleListeners: ReadonlySet<() => void>;
  readonly parts: ProxyParts;
  /** Undefined: the session never moves. */
  readonly adopt: (adoption: Omit<Adoption, 'session' | 'record'>) => MovingPart | undefined;
}

export interface TakenIn {
  readonly client: ProxySocket;
  readonly server: Server;
  readonly backend: ProxySocket;
  readonly firstReply: FirstReply | undefined;
  readonly handedOver: StartupHandOver;
  readonly pool: PoolPolicy;
  readonly refusal: (reason: RefusalReason, detail: string | undefined) => Uint8Array;
}

/** The client and the backend are the next stage's, or closed. */
export function enterNextStage(of: SessionParts, taken: TakenIn): void {
  const { client, backend, handedOver, firstReply } = taken;
  const opening = { ...handedOver, firstReply };
  if (!handedOver.isReadable || !hasTwoLegs(client, backend, of.parts.policy().logins)) {
    return relay(of, taken, opening);
  }
  return logIn(of, taken, opening);
}

function logIn(of: SessionParts, taken: TakenIn, opening: RelayOpening): void {
  const { session, record, parts } = of;
  const { client, backend, server, refusal } = taken;
  const loggingIn = new LoggingIn({
    session,
    client,
    backend,
    server,
    address: record.address(),
    opening,
    services: parts,
    refusal,
    onRelay: (next, turns) => relay(of, taken, next, turns),
  });
  if (!session.move('dial', loggingIn)) return void backend.destroy();
  return loggingIn.start();
}

function relay(of: SessionParts, taken: TakenIn, opening: RelayOpening, turns: readonly LoginTurn[] = []): void {
  const { session, record, idleListeners, parts, adopt } = of;
  const { client, backend, server, handedOver, pool } = taken;
  const { clock, cancels } = parts;
  const { isReadable } = handedOver;
  const reads = 'member' in server ? parts.reads.gateFor(session, pool, record.database()) : undefined;
  const { traffic } = record;
  const conversation = new Conversation({
    client,
    clock,
    isReadable,
    traffic,
    idleListeners,
    cancels,
    transactions: reads,
  });
  reads?.reads(conversation);
  const relayed = new Relayed({
    session,
    client,
    backend,
    conversation,
    moving: adopt({ client, conversation, server, handedOver }),
    pool,
    server,
    record,
    services: parts,
  });
  if (!session.move('relay', relayed)) return void backend.destroy();
  record.opened(server, relayed.tls());
  for (const { from, bytes } of turns) {
    if (from === 'client') conversation.fromClient(bytes);
    else conversation.fromBackend(bytes);
  }
  return relayed.start(opening);
}
