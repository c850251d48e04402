// Where a script of a session plays (session-script.ts): on sockets of this machine.
import type { Clock } from '../../../src/model/instant.ts';
import type { Address } from '../../../src/model/member.ts';
import { startFakeBackend } from '../fakes/fake-backend.ts';
import type { FakeBackend } from '../fakes/fake-backend.ts';
import { connectRaw } from '../sockets/raw-client.ts';
import type { RawClient } from '../sockets/raw-client.ts';
import { ManualClock } from '../waiting/manual-clock.ts';
import { until } from '../waiting/until.ts';
import type { ProxyLab, ProxyLabOptions } from './proxy-lab.ts';

export interface Ground {
  readonly clock: Clock;
  /** A proxy that stands there needs them. */
  readonly options: ProxyLabOptions;
  server(): Promise<FakeBackend>;
  connect(to: Address): Promise<RawClient>;
  /** The host of all clients is gone, without a word. */
  vanish?(): void;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Until it holds, or nothing more can bring it about. */
  settle(what: string, holds: () => Promise<boolean>): Promise<void>;
  end(lab: ProxyLab, servers: readonly FakeBackend[]): Promise<void>;
}

/** `tls`: to the servers. */
export function realGround(tls: boolean): Ground {
  const clock = new ManualClock();
  return {
    clock,
    options: { clock },
    server: () => startFakeBackend('movable', { tls }),
    connect: connectRaw,
    pass: (ms) => clock.advance(ms),
    settle: (what, holds) => until(what, holds, 3_000).then(undefined, () => undefined),
    async end(lab, servers) {
      const ended = lab.end(...servers);
      // Sessions that catch up share a probe of the primary for this long.
      await clock.advance(50);
      await ended;
    },
  };
}
