// The values of a scrape, from the parts of the program.
import type { CoreParts } from './reload.ts';
import type { OpenFilesStatus } from '../admin/status.ts';
import { MOST_STREAMS, type Streams } from '../admin/streams.ts';
import type { Config } from '../config/config.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { HandshakesByMember } from '../history/member-handshakes.ts';
import type { Scrape } from '../telemetry/scrape.ts';

interface ScrapeOptions extends CoreParts {
  /** Default: none are lost. */
  readonly droppedLogLines?: () => number;
  readonly history: ClusterHistory;
  readonly openFiles: (config: Config) => OpenFilesStatus | undefined;
  readonly streams: Streams;
}

export function scrapeOf(options: ScrapeOptions): Scrape {
  const { clock, running, history, openFiles, monitor, proxy, streams } = options;
  const { config } = running;
  return {
    history,
    now: clock.now(),
    wallClock: Date.now(),
    table: monitor.table(),
    snapshot: monitor.snapshot(),
    counts: proxy.counts(),
    clients: proxy.clients(),
    pools: config.pools,
    limits: {
      sessions: openFiles(config)?.mostSessions ?? config.client.maxSessions,
      handshakes: config.client.maxHandshakes,
      heldClients: config.hold.maxSessions,
      eventStreams: MOST_STREAMS,
    },
    eventStreams: streams.size(),
    refusals: monitor.refusedPrimaries().map(({ kind }) => kind),
    certificate: proxy.certificate(),
    memberPair: memberPairNow(config, history),
    handshakes: handshakesNow(config, history),
    workers: proxy.workers(),
    configLoadedAt: running.loadedAt,
    hasMoves: config.moves !== undefined,
    hasQuestions: config.questions !== undefined,
    branches: running.branches?.status(),
    droppedLogLines: options.droppedLogLines?.() ?? 0,
  };
}

/** Without `backend.tls` those of the past say nothing about sessions. */
export function handshakesNow({ backend }: Config, { handshakes }: ClusterHistory): HandshakesByMember {
  return backend.tls === undefined ? new Map() : handshakes.all();
}

function memberPairNow({ backend }: Config, { handshakes }: ClusterHistory): Scrape['memberPair'] {
  const [file, expiresAt] = [backend.tls?.pair?.cert, handshakes.ownExpiresAt()];
  return file === undefined || expiresAt === undefined ? undefined : { file, expiresAt };
}
