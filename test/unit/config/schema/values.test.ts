// Single values of the configuration: durations and addresses.
import { describe, expect, test } from 'vitest';
import {
  parseAddress,
  parseApiUrl,
  parseListenAddress,
  parseListenerAddress,
  parseNetwork,
  parseSeed,
} from '../../../../src/config/schema/address.ts';
import { formatDuration, parseDuration } from '../../../../src/config/schema/duration.ts';
import { fileMode } from '../../../../src/config/schema/values.ts';

describe('durations', () => {
  test.each([
    ['250ms', 250],
    ['1s', 1000],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['2.5min', 150_000],
    ['1h', 3_600_000],
    ['24d', 2_073_600_000],
    ['0', 0],
    [0, 0],
    ['0s', 0],
    ['596h', 2_145_600_000],
    ['2147483647ms', 2_147_483_647],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toEqual({ kind: 'duration', ms });
  });

  test.each([
    [5, '5 has no unit: write 5s or 5ms'],
    ['5', '5 has no unit: write 5s or 5ms'],
    ['1.5', '1.5 has no unit'],
    ['5 s', 'is not a duration'],
    ['5S', 'is not a duration'],
    ['-5s', 'is not a duration'],
    ['5w', 'is not a duration'],
    ['25d', 'too long: at most 24d'],
    ['1m30s', 'is not a duration'],
    ['', 'is not a duration'],
    ['1.5ms', 'not a whole number of milliseconds'],
    ['597h', 'too long'],
    ['2147483648ms', 'too long'],
  ])('%s: %s', (text, message) => {
    expect(parseDuration(text)).toMatchObject({ kind: 'invalid', message: expect.stringContaining(message) });
  });

  test.each([
    [0, '0'],
    [250, '250ms'],
    [1800, '1800ms'],
    [5000, '5s'],
    [61_000, '61s'],
    [120_000, '2m'],
    [3_600_000, '1h'],
  ])('%d ms is printed as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('addresses', () => {
  test.each([
    ['10.0.0.1:5432', '10.0.0.1', 5432],
    ['pg-1.db.internal:5432', 'pg-1.db.internal', 5432],
    ['my_container:5432', 'my_container', 5432],
    ['[::1]:6432', '::1', 6432],
  ])('%s', (text, host, port) => {
    expect(parseAddress(text)).toEqual({ kind: 'ok', value: { host, port } });
  });

  test.each([
    ['pg1', 'pg1 has no port: write pg1:PORT'],
    ['::1', '::1 has no port: write [::1]:PORT'],
    [':6432', ':6432 names no host: write 127.0.0.1:6432, or *:6432'],
    ['pg1:0', '0 is not a port'],
    ['pg1:65536', '65536 is not a port'],
    ['a b:1', 'neither an IP address nor a host name'],
    ['10.0.0.300:1', 'neither an IP address nor a host name'],
    ['[pg1]:1', '[pg1] is not an IPv6 address'],
    ['2001:db8:0:0:0:0:0:1:5432', 'write an IPv6 address in brackets'],
    ['tcp://a:1', 'is not an address: write host:port'],
  ])('%s: %s', (text, message) => {
    expect(parseAddress(text)).toMatchObject({ kind: 'invalid', message: expect.stringContaining(message) });
  });

  test('a listener may use every interface and any port', () => {
    expect(parseListenAddress('*:6432')).toEqual({ kind: 'ok', value: { host: '::', port: 6432 } });
    expect(parseListenAddress('127.0.0.1:0')).toEqual({ kind: 'ok', value: { host: '127.0.0.1', port: 0 } });
    expect(parseListenAddress(':0')).toMatchObject({ kind: 'invalid' });
  });

  test('a listener may be a Unix socket, by its directory and port', () => {
    const expected = { kind: 'ok', value: { host: '/run/pg man', port: 6432 } };
    expect(['/run/pg man:6432', '/run/pg man/:6432'].map(parseListenerAddress)).toEqual([expected, expected]);
    expect(parseListenerAddress('*:6432')).toEqual({ kind: 'ok', value: { host: '::', port: 6432 } });
  });

  test.each([
    ['/run/a', 'has no port, or a colon too many: write /run/pointsman:6432'],
    ['/run/a:b:6432', 'has no port, or a colon too many'],
    ['/run/a/.s.PGSQL.6432', 'is a file: write its directory and port'],
    ['/:6432', 'has no directory'],
    ['/run/../a:6432', 'has no directory'],
    ['/run//a:6432', 'has no directory'],
    ['/run/a:0', '0 is not a port'],
    ['/run/a:65536', '65536 is not a port'],
    [`/run/${'ä'.repeat(41)}:6432`, 'would have a path of 101 bytes: 100 at the most'],
    ['@pointsman:6432', 'neither an IP address nor a host name'],
    ['run/pointsman:6432', 'neither an IP address nor a host name'],
  ])('%s as a listener: %s', (text, message) => {
    expect(parseListenerAddress(text)).toMatchObject({ kind: 'invalid', message: expect.stringContaining(message) });
  });

  test('the mode of a file is octal', () => {
    expect(['0770', '660'].map((text) => fileMode.parse(text))).toEqual([0o770, 0o660]);
    for (const wrong of ['0880', '7', '17777', 'rwx', 770]) expect(fileMode.safeParse(wrong).success).toBe(false);
  });
});

describe('URLs of management APIs', () => {
  test.each([
    ['http://pg1:8008', 'http://pg1:8008', 'pg1', 8008],
    ['HTTP://PG1:8008/', 'http://pg1:8008', 'pg1', 8008],
    ['http://pg1:08008', 'http://pg1:8008', 'pg1', 8008],
    ['https://pg1:443', 'https://pg1:443', 'pg1', 443],
    ['https://[fd00::1]:8008', 'https://[fd00::1]:8008', 'fd00::1', 8008],
  ])('%s', (text, url, host, port) => {
    expect(parseApiUrl(text)).toEqual({ kind: 'ok', value: { url, address: { host, port } } });
  });

  test.each([
    ['pg1:8008', 'is not an http or https URL'],
    ['ftp://pg1:8008', 'is not an http or https URL'],
    ['http://pg1', '"http://pg1" has no port: write http://pg1:8008'],
    ['http://pg1:8008/patroni', 'has a path: write only http://pg1:8008'],
    ['http://pg1:8008?x=1', 'has a path'],
    ['http://u@pg1:8008', 'carries a user or password'],
    ['http://@pg1:8008', 'carries a user or password'],
    ['http://pg1:0', 'no usable host and port'],
  ])('%s: %s', (text, message) => {
    expect(parseApiUrl(text)).toMatchObject({ kind: 'invalid', message: expect.stringContaining(message) });
  });
});

describe('seeds', () => {
  test.each([
    ['http+srv://_patroni._tcp.example.org', 'http', '_patroni._tcp.example.org'],
    ['HTTPS+SRV://_patroni._tcp.Example.org./', 'https', '_patroni._tcp.example.org.'],
  ])('%s: SRV records', (text, scheme, srv) => {
    expect(parseSeed(text)).toEqual({ kind: 'ok', value: { url: text, scheme, srv } });
  });

  test('a name with a dot at its end is absolute', () => {
    expect(parseSeed('http://pg.example.org.:8008')).toMatchObject({ value: { url: 'http://pg.example.org.:8008' } });
  });

  test.each([
    ['http+srv://_patroni._tcp.example.org:8008', 'has a port: the SRV records have it, write http+srv://_patroni'],
    ['https+srv://_patroni._tcp.example.org/patroni', 'has a path: write only https+srv://_patroni'],
    ['http+srv://u:p@example.org', 'carries a user or password'],
    ['http+srv://', 'names no SRV records'],
    ['http+srv://10.0.0.1', 'names no SRV records'],
    ['dns+srv://example.org', 'is not an http or https URL'],
    ['http://pg..:8008', 'no usable host and port'],
  ])('%s: %s', (text, message) => {
    expect(parseSeed(text)).toMatchObject({ kind: 'invalid', message: expect.stringContaining(message) });
  });
});

describe('networks', () => {
  test.each(['10.0.0.0/8', '0.0.0.0/0', 'fd00::/8', '::1/128', '10.0.0.7', '::1'])('%s', (text) => {
    expect(parseNetwork(text)).toEqual({ kind: 'ok', value: text });
  });

  test.each([
    ['10.0.0.0/', 'is not a network'],
    ['10.0.0/8', 'such as 10.20.0.0/16'],
    ['fd00::/129', 'is not a network'],
    ['10.0.0.0/33', 'is not a network'],
    ['pg1/8', 'is not a network'],
  ])('%s: %s', (text, message) => {
    expect(parseNetwork(text)).toMatchObject({ kind: 'invalid', message: expect.stringContaining(message) });
  });
});
