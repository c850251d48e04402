// The connections of this machine whose peer acknowledges nothing, as Linux lists them in /proc/net/tcp and tcp6
// (Documentation/networking/proc_net_tcp.rst of the kernel). A slow reader is not among them: its host answers.
import type { ProxySocket } from '../socket.ts';
import { createReadStream } from 'node:fs';
import { endianness } from 'node:os';
import { canonicalIpv6 } from '../../model/ipv6.ts';
import type { ReadSilentConnections, Silence } from '../options.ts';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** The kernel gives no more at a time. */
const READ_BYTES = 4096;

/** `sl local rem st tx_queue:rx_queue tr:when retrnsmt uid timeout`; the last one counts the questions for room. */
const END = String.raw`((?:[\dA-F]{8}|[\dA-F]{32}):\w+)`;
const ROW = new RegExp(String.raw`^ *\d+: ${END} ${END} \w+ (\w+):\w+ \w+:\w+ (\w+) +\d+ +(\d+) `);
/** In a row without bytes on the way. No address of a connection looks like this. */
const NOTHING_SENT = ' 00000000:';

/** Reads in small steps, so that no client waits for it. Empty on a system without these tables. Never rejects. */
export const readSilentConnections: ReadSilentConnections = async () => {
  const silent = new Map<string, Silence>();
  for (const path of TABLES) {
    let rest = '';
    try {
      for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: READ_BYTES })) {
        const text = rest + String(chunk);
        const end = text.lastIndexOf('\n') + 1;
        addSilent(text.slice(0, end), silent);
        rest = text.slice(end);
      }
    } catch {
      // Another system, or no IPv6.
    }
  }
  return silent;
};

/** Adds the silent connections of whole rows. */
export function addSilent(rows: string, silent: Map<string, Silence>): void {
  for (const row of rows.split('\n')) {
    // Thousands of rows, where clients come and go.
    if (row.includes(NOTHING_SENT)) continue;
    const [, local = '', remote = '', queue = '', resent = '', asked = ''] = ROW.exec(row) ?? [];
    const bytes = Number.parseInt(queue, 16);
    const attempts = Number.parseInt(resent, 16) + Number(asked);
    if (bytes > 0 && attempts > 0) silent.set(`${endText(local)} ${endText(remote)}`, { bytes, attempts });
  }
}

type Ends = Pick<ProxySocket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** Undefined: it is not connected any more. */
export function connectionKey({ localAddress, localPort, remoteAddress, remotePort }: Ends): string | undefined {
  if (localAddress === undefined || remoteAddress === undefined) return undefined;
  return `${oneSpelling(localAddress)} ${localPort} ${oneSpelling(remoteAddress)} ${remotePort}`;
}

function oneSpelling(address: string): string {
  const [withoutZone = ''] = address.split('%');
  return canonicalIpv6(withoutZone) ?? address;
}

/** `0100007F:1538`: address and port in hexadecimal, the address in words of the processor's byte order. */
function endText(end: string): string {
  const [address = '', port = ''] = end.split(':');
  const bytes = Buffer.from(address, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  const text = bytes.length === 4 ? bytes.join('.') : oneSpelling(bytes.toString('hex').replace(/(.{4})(?!$)/g, '$1:'));
  return `${text} ${Number.parseInt(port, 16)}`;
}
