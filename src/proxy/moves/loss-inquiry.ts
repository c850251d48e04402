// Whether a server that has ended a session between two transactions meant this session alone: then its client reads
// the server's last words. A server that has ended one session alone still takes new ones, and one that stops, recovers
// or is gone does not. So the client's own startup packet is sent, and the connection closed after the first reply.
// Silence tells nothing: the server may be overloaded, or this machine have no socket left.
import type { ProxyDependencies } from '../options.ts';
import { openRoute, type RoutingTable } from '../../core/routing-table.ts';
import type { Standing } from '../../core/standing.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { nothing } from '../../model/once.ts';
import type { PoolName } from '../../model/policy.ts';
import { awaitFirstReply } from '../connect/first-reply.ts';
import type { DialServer } from '../server.ts';
import { isForAll, maybeForOne } from './last-words.ts';
import type { ServerLoss } from './departure.ts';

export interface InquiryServices extends Pick<ProxyDependencies, 'clock' | 'table' | 'freshen' | 'snapshot'> {
  readonly dial: DialServer;
}

export interface InquiryOptions {
  readonly loss: ServerLoss;
  readonly pool: PoolName;
  /** The startup packet as it was forwarded. */
  readonly packet: Uint8Array;
  readonly services: InquiryServices;
}

/** For the connection, and for the reply. Milliseconds. */
const LIMIT_MS = 2_000;
/** A silent API is asked so often, and for so long: a host whose server stops is busy. Milliseconds. */
const ASK_AGAIN_MS = 500;
const SILENT_MS = 10_000;

type Entrance = 'open' | 'closed' | 'silent';

/** The server has ended all of its sessions, by its last words or by the routing table. */
export function endsAll({ words, server }: ServerLoss, pool: PoolName, { table }: InquiryServices): boolean {
  return (words !== undefined && isForAll(words)) || isGone(standingOf(table(), pool, server.member));
}

/**
 * Calls `onAnswer` once; true: the server meant this session alone. Where an administrator may be behind its words,
 * the answer is true unless something proves that the server stopped; a silent API has a while for that. Returns the
 * abort; nothing is reported after it.
 */
export function inquire(
  { loss, pool, packet, services }: InquiryOptions,
  onAnswer: (isMeant: boolean) => void,
): () => void {
  const { clock, dial } = services;
  const { member } = loss.server;
  const since = clock.now();
  let isAborted = false;
  let cancelPause = nothing;
  // Its API is asked as well: a primary that was demoted lets sessions in, too.
  const askApi = async (entrance: Entrance, askedAt: Instant): Promise<void> => {
    await services.freshen(pool, askedAt);
    if (isAborted) return;
    const table = services.table();
    if (loss.words === undefined || !maybeForOne(loss.words))
      return onAnswer(entrance === 'open' && isOpen(table, pool, member));
    const standing = standingOf(table, pool, member);
    if (entrance === 'open' ? hasYielded(standing) : isGone(standing)) return onAnswer(false);
    if (hasAnswered(services, member, since) || clock.now() - since >= SILENT_MS) return onAnswer(true);
    cancelPause = clock.schedule(ASK_AGAIN_MS, () => void askApi(entrance, clock.now()));
  };
  const abort = knock(loss.server, packet, { dial, clock }, (entrance) => {
    if (entrance === 'closed') onAnswer(false);
    else void askApi(entrance, since);
  });
  return () => {
    isAborted = true;
    cancelPause();
    abort();
  };
}

/** A refusal for another reason, such as a limit, comes from a server that runs: open. Returns the abort. */
function knock(
  server: ServerLoss['server'],
  packet: Uint8Array,
  { dial, clock }: Pick<InquiryServices, 'dial' | 'clock'>,
  onAnswer: (entrance: Entrance) => void,
): () => void {
  let abortReply = nothing;
  const abortDial = dial(server, { clock, timeoutMs: LIMIT_MS }, (result) => {
    if (result.kind === 'failed') return onAnswer(result.outcome === 'refused' ? 'closed' : 'silent');
    const backend = result.socket;
    const closed = (): void => onAnswer('closed');
    abortReply = awaitFirstReply({
      backend,
      request: { kind: 'startup', packet },
      clock,
      limitMs: LIMIT_MS,
      onReply: () => {
        backend.destroy();
        onAnswer('open');
      },
      onDeclined: closed,
      onTurnedAway: closed,
      onSilent: () => onAnswer('silent'),
    });
    return undefined;
  });
  return () => {
    abortDial();
    abortReply();
  };
}

function standingOf(table: RoutingTable, pool: PoolName, member: MemberName): Standing | undefined {
  return table.pools.get(pool)?.standings.get(member);
}

function isOpen(table: RoutingTable, pool: PoolName, member: MemberName): boolean {
  return openRoute(table, pool)?.targets.some((target) => target.member === member) === true;
}

function hasAnswered({ snapshot }: InquiryServices, member: MemberName, since: Instant): boolean {
  return snapshot === undefined || (snapshot().members.get(member)?.answeredAt ?? -Infinity) >= since;
}

/** By an answer: silence may end as well. A server that its API calls stopping ends all of its sessions. */
function isGone(standing: Standing | undefined): boolean {
  if (standing?.kind === 'keep') return standing.why.code === 'not_running';
  return standing?.kind === 'leave' && (standing.cause === 'demoted' || standing.cause === 'dead');
}

/** By its own API. A next primary, or its death, does not tell why a server that ran had ended a session. */
function hasYielded(standing: Standing | undefined): boolean {
  return isGone(standing) && standing?.why.code !== 'superseded' && standing?.why.code !== 'refused';
}
