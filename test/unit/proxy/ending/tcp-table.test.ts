// Rows of /proc/net/tcp and tcp6 as Linux 6.18 wrote them on a little-endian machine, while packets were dropped.
import { endianness } from 'node:os';
import { describe, expect, test } from 'vitest';
import { addSilent, connectionKey } from '../../../../src/proxy/ending/tcp-table.ts';
import type { Silence } from '../../../../src/proxy/options.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode  \n';
const HOST = '0100007F';
const MAPPED = ['0000000000000000FFFF00000100007F', '0000000000000000FFFF00000200000A'] as const;
const IPV6 = ['B80D0120000000000000000005000000', 'B80D0120000000000000000009000000'] as const;

const IDLE = aRow('B838', '00000000:00000000 02:0000005A 00000000     0        9');
const RESENT = aRow('B83C', '00000005:00000000 01:000008F2 00000007     0        0');
const FULL = aRow('B846', '0038D400:00000000 04:00000825 00000000  1000        4');
const SLOW = aRow('B842', '0038D400:00000000 04:00000825 00000000     0        0');
const OTHERS = '00000005:00000000 01:00000042 0000000A     0        0';

function aRow(port: string, rest: string, [local, remote]: readonly [string, string] = [HOST, HOST]): string {
  return `  12: ${local}:AD87 ${remote}:${port} 01 ${rest} 36254271 3 000000008283061d 2611 0 0 1 -1  \n`;
}

function silentIn(...rows: readonly string[]): Record<string, Silence> {
  const silent = new Map<string, Silence>();
  addSilent(rows.join(''), silent);
  return Object.fromEntries(silent);
}

function aSocket(localAddress: string, remoteAddress: string): Parameters<typeof connectionKey>[0] {
  return { localAddress, localPort: 44_423, remoteAddress, remotePort: 47_160 };
}

describe.skipIf(endianness() === 'BE')('the table of connections', () => {
  test('silent: bytes on the way are resent, or wait for room, without an answer', () => {
    expect(silentIn(HEAD, IDLE, RESENT, FULL, SLOW)).toEqual({
      '127.0.0.1 44423 127.0.0.1 47164': { bytes: 5, attempts: 7 },
      '127.0.0.1 44423 127.0.0.1 47174': { bytes: 0x38_d4_00, attempts: 4 },
    });
  });

  test.each([
    ['IPv4 on a socket for IPv6', aRow('B838', OTHERS, MAPPED), aSocket('::ffff:127.0.0.1', '::ffff:10.0.0.2')],
    ['IPv6', aRow('B838', OTHERS, IPV6), aSocket('2001:db8::5', '2001:db8::9')],
    ['IPv6 with a zone', aRow('B838', OTHERS, IPV6), aSocket('2001:db8::5%eth0', '2001:DB8::9%eth0')],
  ])('%s: row and socket have the same key', (_, row, socket) => {
    expect(Object.keys(silentIn(row))).toEqual([connectionKey(socket)]);
  });

  test('a socket that is not connected any more has no key', () => {
    expect(connectionKey({ remoteAddress: undefined, remotePort: undefined })).toBeUndefined();
  });

  test('a row with an address of another form does not take the others away', () => {
    const other = aRow('B838', OTHERS, ['0', '0F']);
    expect(Object.keys(silentIn(other, RESENT))).toEqual(['127.0.0.1 44423 127.0.0.1 47164']);
  });

  test('what is no row is left out', () => {
    expect(silentIn('not a table\n', '\n', RESENT.slice(0, 40))).toEqual({});
  });
});
