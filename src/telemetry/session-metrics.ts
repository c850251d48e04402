// Sessions, clients that wait, and how clients began; each limited number beside its limit.
import { BRANCHES_POOL } from '../model/branch.ts';
import { FIRST_PACKETS, STARTUPS, type PoolCounts } from '../reports/counts.ts';
import type { Series } from './families.ts';
import { scraped, scrapedNumber, type Scrape, type ScrapedMetric } from './scrape.ts';

export const SESSION_METRICS: readonly ScrapedMetric[] = [
  scraped('pointsman_sessions', 'Current client connections, by state.', ['pool', 'state'], ({ counts, hasMoves }) =>
    [...counts].flatMap(([pool, { states }]) =>
      // Without moves their states have no series.
      Object.entries({ ...(hasMoves ? { parked: 0, moving: 0 } : {}), ...states }).map(
        ([state, count]): Series<'pool' | 'state'> => [{ pool, state }, count],
      ),
    ),
  ),
  scraped(
    'pointsman_member_sessions',
    'Current client connections that are connected or connecting to a member.',
    ['pool', 'member'],
    ({ counts }) =>
      [...counts].flatMap(([pool, { members }]) =>
        [...members].map(([member, count]): Series<'pool' | 'member'> => [{ pool, member }, count]),
      ),
  ),
  ofWaits(
    'pointsman_held_clients',
    'Clients that currently wait for an eligible member.',
    ({ states }) => states.holding,
  ),
  ofWaits(
    'pointsman_held_clients_oldest_wait_seconds',
    'Time that the longest waiting client has waited so far, its earlier waits included; 0 while no client waits.',
    ({ heldSince }, { now }) => (heldSince === undefined ? 0 : Math.max(0, now - heldSince) / 1000),
  ),
  ofWaits(
    'pointsman_pool_fallback_sessions',
    'Current client connections that use the fallback.',
    ({ fallbackSessions }) => fallbackSessions,
  ),
  scraped(
    'pointsman_pool_fallback_sessions_limit',
    'Limit of sessions that use the fallback; absent without one.',
    ['pool'],
    ({ pools }) => pools.map(({ name, fallback }) => [{ pool: name }, fallback?.maxSessions]),
  ),
  ofWaits(
    'pointsman_pool_lagging_sessions',
    'Current client connections that began while every member of the pool was over the lag limit.',
    ({ laggingSessions }) => laggingSessions,
  ),
  scraped(
    'pointsman_pool_lagging_sessions_limit',
    'Limit of sessions that begin while every member lags; absent unless when_all_lagging is least_lagging.',
    ['pool'],
    ({ pools }) =>
      pools
        .filter(({ whenAllLagging }) => whenAllLagging === 'least_lagging')
        .map(({ name, maxLaggingSessions }) => [{ pool: name }, maxLaggingSessions]),
  ),
  ofPools(
    'pointsman_listener_accepted_total',
    'Client connections accepted, by pool of the listener. Over all pools: closed plus current ones.',
    ({ accepted }) => accepted,
  ),
  ofPools(
    'pointsman_sessions_started_total',
    'Sessions by the pool that they use, counted once it is certain. Minus closed: current ones after the handshake.',
    ({ started }) => started,
  ),
  scraped(
    'pointsman_relayed_bytes_total',
    'Bytes relayed between clients and members.',
    ['pool', 'direction'],
    ({ counts }) =>
      [...counts].flatMap(([pool, { toBackendBytes, toClientBytes }]): Series<'pool' | 'direction'>[] => [
        [{ pool, direction: 'to_backend' }, toBackendBytes],
        [{ pool, direction: 'to_client' }, toClientBytes],
      ]),
  ),
  scrapedNumber(
    'pointsman_sessions_limit',
    'Limit of client connections over all pools: client.max_sessions, or what open files allow if that is less.',
    ({ limits }) => limits.sessions,
  ),
  scrapedNumber(
    'pointsman_held_clients_limit',
    'Limit of clients that wait, over all pools (hold.max_sessions).',
    ({ limits }) => limits.heldClients,
  ),
  scrapedNumber(
    'pointsman_event_streams_limit',
    'Limit of open streams of GET /events.',
    ({ limits }) => limits.eventStreams,
  ),
  scrapedNumber(
    'pointsman_handshakes',
    'Clients that have not sent a complete startup message yet.',
    ({ clients }) => clients.handshakes,
  ),
  scrapedNumber(
    'pointsman_handshakes_limit',
    'Limit of clients in their handshake (client.max_handshakes); absent if there is none.',
    ({ limits }) => limits.handshakes,
  ),
  scrapedNumber('pointsman_event_streams', 'Open streams of GET /events.', ({ eventStreams }) => eventStreams),
  scraped(
    'pointsman_client_first_packets_total',
    'First packets of client connections, by kind.',
    ['packet'],
    ({ clients }) => FIRST_PACKETS.map((packet, index) => [{ packet }, clients.firstPackets[index]]),
  ),
  scraped(
    'pointsman_client_startups_total',
    'Startups of sessions, by encryption: plain, terminated (by Pointsman) or passthrough (by the member, unread).',
    ['encryption', 'tls_version', 'protocol'],
    ({ clients }) =>
      STARTUPS.map(({ encryption, tlsVersion, protocol }, index) => [
        { encryption, tls_version: tlsVersion, protocol },
        clients.startups[index],
      ]),
  ),
];

type ReadPool = (counts: PoolCounts, scrape: Scrape) => number;

/** A metric with a value for each pool. */
function ofPools(name: string, help: string, read: ReadPool): ScrapedMetric {
  return scraped(name, help, ['pool'], (scrape) =>
    [...scrape.counts].map(([pool, counts]) => [{ pool }, read(counts, scrape)]),
  );
}

/** A client that waits for a branch waits for no member: nobody is called because a preview sleeps. */
function ofWaits(name: string, help: string, read: ReadPool): ScrapedMetric {
  return scraped(name, help, ['pool'], (scrape) =>
    [...scrape.counts]
      .filter(([pool]) => pool !== BRANCHES_POOL || scrape.pools.some(({ name: known }) => known === pool))
      .map(([pool, counts]) => [{ pool }, read(counts, scrape)]),
  );
}
