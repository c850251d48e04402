// Counts the first packets of clients, and how their sessions began. Once per client, never per chunk.
import { FIRST_PACKETS, STARTUPS, type ClientCounts, type FirstPacket, type Startup } from '../../reports/counts.ts';
import type { OpeningPacket } from '../../wire/startup/startup.ts';
import { tlsVersion, type ProxySocket } from '../socket.ts';

type StartupMessage = Extract<OpeningPacket, { kind: 'startup' }>;

export class StartupCounts {
  readonly #firstPackets = FIRST_PACKETS.map(() => 0);
  readonly #startups = STARTUPS.map(() => 0);

  firstPacket(packet: FirstPacket): void {
    add(this.#firstPackets, FIRST_PACKETS.indexOf(packet));
  }

  /** `client`: the socket that the message came through, which tells the version of TLS. */
  startup({ major, minor }: StartupMessage, client: ProxySocket): void {
    const version = tlsVersion(client);
    const protocol = protocolOf(major, minor);
    this.#add(
      version === undefined
        ? { encryption: 'plain', tlsVersion: 'none', protocol }
        : { encryption: 'terminated', tlsVersion: version === 'TLSv1.2' ? '1.2' : '1.3', protocol },
    );
  }

  /** Encryption between the client and its member begins. */
  passedThrough(): void {
    this.#add({ encryption: 'passthrough', tlsVersion: 'unknown', protocol: 'unknown' });
  }

  counts(): Pick<ClientCounts, 'firstPackets' | 'startups'> {
    return { firstPackets: [...this.#firstPackets], startups: [...this.#startups] };
  }

  #add({ encryption, tlsVersion: version, protocol }: Startup): void {
    const index = STARTUPS.findIndex(
      (one) => one.encryption === encryption && one.tlsVersion === version && one.protocol === protocol,
    );
    add(this.#startups, index);
  }
}

function add(counts: number[], index: number): void {
  counts[index] = (counts[index] ?? 0) + 1;
}

function protocolOf(major: number, minor: number): Startup['protocol'] {
  if (major === 3 && minor === 0) return '3.0';
  return major === 3 && minor === 2 ? '3.2' : 'other';
}
