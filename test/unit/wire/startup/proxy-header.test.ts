// The header of the PROXY protocol, as HAProxy's specification has it.
import { expect, test } from 'vitest';
import { proxyHeader } from '../../../../src/wire/startup/proxy-header.ts';
import { aProxyHeader, aStartup } from '../../../support/sockets/packets.ts';

const source = (host: string, port: number) => ({ host, port });
const TCP4 = Buffer.from([192, 0, 2, 7, 198, 51, 100, 1, 0xdc, 0x04, 0x15, 0x38]);
const MAPPED = Buffer.concat([Buffer.alloc(10), Buffer.from([255, 255, 192, 0, 2, 7])]);
const IPV6 = Buffer.concat([Buffer.from('20010db8', 'hex'), Buffer.alloc(11), Buffer.from([5])]);
const PORTS = Buffer.from([0xdc, 0x04, 0x15, 0x38]);
const extension = (type: number, value: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([type, value.length >> 8, value.length & 255]), value]);

test.each([
  ['TCP4', 'PROXY TCP4 192.0.2.7 198.51.100.1 56324 5432\r\n', source('192.0.2.7', 56_324)],
  ['TCP6', 'PROXY TCP6 2001:DB8:0::5 ::1 1 65535\r\n', source('2001:db8::5', 1)],
  ['TCP6 with an IPv4 address in it', 'PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n', source('192.0.2.7', 1)],
  ['UNKNOWN', 'PROXY UNKNOWN\r\n', undefined],
  ['UNKNOWN with anything behind it', 'PROXY UNKNOWN ffff:f...f 65535 1\r\n', undefined],
])('version 1, %s', (_, line, from) => {
  const bytes = Buffer.concat([Buffer.from(line), aStartup()]);
  expect(proxyHeader(bytes)).toEqual({ kind: 'proxy_header', length: line.length, source: from });
});

test.each([
  ['IPv4', aProxyHeader(0x21, 0x11, TCP4), source('192.0.2.7', 56_324)],
  ['IPv6', aProxyHeader(0x21, 0x21, IPV6, IPV6, PORTS), source('2001:db8::5', 56_324)],
  ['IPv4 in IPv6', aProxyHeader(0x21, 0x21, MAPPED, MAPPED, PORTS), source('192.0.2.7', 56_324)],
  ['LOCAL', aProxyHeader(0x20, 0x00), undefined],
  ['LOCAL with addresses', aProxyHeader(0x20, 0x11, TCP4), undefined],
  ['LOCAL with noise', aProxyHeader(0x20, 0x11, Buffer.from([4])), undefined],
  ['LOCAL with an unknown family', aProxyHeader(0x20, 0x41), undefined],
  ['no family', aProxyHeader(0x21, 0x00), undefined],
  ['a Unix socket', aProxyHeader(0x21, 0x31, Buffer.alloc(216)), undefined],
  ['UDP', aProxyHeader(0x21, 0x12, TCP4), undefined],
  ['extensions', aProxyHeader(0x21, 0x11, TCP4, extension(0x02, Buffer.from('db')), extension(4, Buffer.alloc(300)))],
  ['the longest', aProxyHeader(0x21, 0x11, TCP4, extension(4, Buffer.alloc(2048 - 16 - 12 - 3)))],
])('version 2, %s', (_, header, from = header[13] === 0x11 ? source('192.0.2.7', 56_324) : undefined) => {
  const bytes = Buffer.concat([header, aStartup()]);
  const expected = header[12] === 0x20 ? undefined : from;
  expect(proxyHeader(bytes)).toEqual({ kind: 'proxy_header', length: header.length, source: expected });
});

test('a checksum is checked', () => {
  const header = aProxyHeader(0x21, 0x11, TCP4, extension(3, Buffer.alloc(4)));
  expect(proxyHeader(header)).toMatchObject({ kind: 'invalid', why: expect.stringContaining('checksum') });
  // From another implementation of CRC-32C.
  header.writeUInt32BE(0x100f681e, header.length - 4);
  expect(proxyHeader(header)).toMatchObject({ kind: 'proxy_header', length: header.length });
  const longer = aProxyHeader(0x21, 0x11, TCP4, extension(3, Buffer.alloc(5)));
  longer.writeUInt32BE(0x224c3eeb, longer.length - 5);
  expect(proxyHeader(longer)).toMatchObject({ kind: 'invalid', why: expect.stringContaining('checksum') });
  header[16] = 193;
  expect(proxyHeader(header)).toMatchObject({ kind: 'invalid' });
});

const line = (text: string): Buffer => Buffer.from(`${text}\r\n`);
test.each([
  ['a family that is none', line('PROXY UDP4 1.1.1.1 1.1.1.1 1 2'), 'family'],
  ['no family', line('PROXY '), 'family'],
  ['a number that is no byte', line('PROXY TCP4 999.1.1.1 1.1.1.1 1 2'), 'TCP4'],
  ['leading zeros', line('PROXY TCP4 01.1.1.1 1.1.1.1 1 2'), 'TCP4'],
  ['three numbers', line('PROXY TCP4 1.1.1 1.1.1.1 1 2'), 'TCP4'],
  ['IPv6 for TCP4', line('PROXY TCP4 ::1 ::1 1 2'), 'TCP4'],
  ['IPv4 for TCP6', line('PROXY TCP6 1.1.1.1 1.1.1.1 1 2'), 'TCP6'],
  ['a zone', line('PROXY TCP6 fe80::1%eth0 ::1 1 2'), 'TCP6'],
  ['brackets', line('PROXY TCP6 [::1] ::1 1 2'), 'TCP6'],
  ['a broken target', line('PROXY TCP4 1.1.1.1 host 1 2'), 'TCP4'],
  ['a port beyond 65535', line('PROXY TCP4 1.1.1.1 1.1.1.1 65536 2'), 'TCP4'],
  ['a port with a sign', line('PROXY TCP4 1.1.1.1 1.1.1.1 +1 2'), 'TCP4'],
  ['no port', line('PROXY TCP4 1.1.1.1 1.1.1.1 1'), 'TCP4'],
  ['more than ports', line('PROXY TCP4 1.1.1.1 1.1.1.1 1 2 3'), 'TCP4'],
  ['two spaces', line('PROXY TCP4  1.1.1.1 1.1.1.1 1 2'), 'TCP4'],
  ['no end of the line', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(100)}\r\n`), '107 bytes'],
  ['version 1 in binary', aProxyHeader(0x11, 0x11, TCP4), 'command 0x11'],
  ['an unknown command', aProxyHeader(0x22, 0x11, TCP4), 'command 0x22'],
  ['an unknown family', aProxyHeader(0x21, 0x41, TCP4), 'family 0x41'],
  ['an unknown transport', aProxyHeader(0x21, 0x13, TCP4), 'family 0x13'],
  ['addresses cut off', aProxyHeader(0x21, 0x11, TCP4.subarray(0, 11)), 'addresses'],
  ['IPv6 addresses cut off', aProxyHeader(0x21, 0x21, TCP4), 'addresses'],
  ['an extension cut off', aProxyHeader(0x21, 0x11, TCP4, Buffer.from([1, 0, 9, 1])), 'extension'],
  ['an extension without a length', aProxyHeader(0x21, 0x11, TCP4, Buffer.from([1])), 'extension'],
  ['a checksum of another size', aProxyHeader(0x21, 0x11, TCP4, extension(3, Buffer.alloc(2))), 'checksum'],
  ['too long', aProxyHeader(0x21, 0x11, TCP4, extension(4, Buffer.alloc(2048))), '2048 bytes'],
])('refused: %s', (_, bytes, why) => {
  expect(proxyHeader(bytes)).toEqual({ kind: 'invalid', why: expect.stringContaining(why) });
});

test('it waits for the whole header, and knows other openings at once', () => {
  const version1 = Buffer.from(`PROXY UNKNOWN ${'x'.repeat(91)}\r\n`);
  for (const header of [aProxyHeader(0x21, 0x11, TCP4), aProxyHeader(0x20, 0), version1]) {
    for (let length = 1; length < header.length; length += 1) {
      expect(proxyHeader(Uint8Array.from(header.subarray(0, length)))).toEqual({ kind: 'need_more' });
    }
    expect(proxyHeader(Uint8Array.from(header))).toMatchObject({ kind: 'proxy_header', length: header.length });
  }
  expect(proxyHeader(Buffer.alloc(107, version1.subarray(0, 100)))).toMatchObject({ kind: 'invalid' });
  for (const opening of ['', 'POST', 'PROX!', '\r\n\r\n\r', 'GET /'])
    expect(proxyHeader(Buffer.from(opening))).toBeUndefined();
  expect(proxyHeader(aStartup())).toBeUndefined();
});
