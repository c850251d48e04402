import { describe, expect, test } from 'vitest';
import { createTrustRules } from '../../../src/discovery/addresses.ts';
import { networks, neverContacted, normalizeAddress } from '../../../src/discovery/never-contacted.ts';
import type { ContactPoint } from '../../../src/discovery/addresses.ts';
import type { AllowRules } from '../../../src/model/cluster-config.ts';
import { parseApiUrl } from '../../../src/discovery/api-url.ts';

const NOTHING: AllowRules = { networks: [], hosts: [], ports: [] };

function api(host: string, ...addresses: string[]): ContactPoint {
  return { use: 'api', host, port: 8008, addresses };
}

function rules(points: readonly ContactPoint[], allow: Partial<AllowRules> = {}) {
  const trust = createTrustRules(points, { ...NOTHING, ...allow });
  return (host: string, address = host, port = 8008, use: 'api' | 'postgres' = 'api') =>
    trust({ use, host, port }, address)?.why ?? 'allowed';
}

describe('one spelling for each address', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0a00:0001', '10.0.0.1'],
    ['[::ffff:a9fe:a9fe]', '169.254.169.254'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['FD00::1', 'fd00::1'],
    ['fe80::1%eth0', undefined],
    ['010.0.0.1', undefined],
    ['pg1', undefined],
    ['', undefined],
  ])('%s is %s', (text, expected) => {
    expect(normalizeAddress(text)).toBe(expected);
  });
});

describe('networks', () => {
  test('are single addresses and ranges', () => {
    const { rules: taken } = networks(['10.0.0.0/8', '10.1.2.3', 'FD00::/8', '::1', '::ffff:1.2.3.4/96']);
    expect(taken.length).toBe(5);
  });

  const neither = ['', 'pg1', '10.0.0', '010.0.0.1', ' 10.0.0.1', '10.0.0.1\0', '10.0.0.0/', '10.0.0.0/33'];
  const ofIpv6 = ['1::2::3', '[::1]', '::1\0', 'fe80::/129', 'fe80::/x', 'fe80::1%eth0'];
  test.each([...neither, ...ofIpv6])('%j is left out', (text) => {
    expect(networks([text]).rules).toEqual([]);
  });
});

describe('G19: addresses that are never contacted', () => {
  const everything = rules([api('169.254.169.254', '169.254.169.254'), api('10.0.0.1', '10.0.0.1')], {
    networks: ['0.0.0.0/0', '::/0'],
    hosts: ['169.254.169.254', 'fe80::1'],
  });
  test.each([
    '169.254.169.254',
    '169.254.1.1',
    '::ffff:169.254.169.254',
    '100.100.100.200',
    'fd00:ec2::254',
    'fe80::1',
    'febf::1',
    '0.0.0.0',
    '::',
    '::ffff:0.0.0.0',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
  ])('%s', (address) => {
    expect(neverContacted(address)).toBeDefined();
    expect(everything(address)).not.toBe('allowed');
  });

  test('an ordinary address is not among them', () => {
    expect(neverContacted('10.0.0.1')).toBeUndefined();
    expect(everything('203.0.113.9')).toBe('allowed');
  });
});

describe('by default', () => {
  test('private ranges if a contact point is in one, loopback if one is there', () => {
    const inPrivate = rules([api('pg1', '10.0.0.1')]);
    expect(inPrivate('10.9.9.9')).toBe('allowed');
    expect(inPrivate('192.168.1.1')).toBe('allowed');
    expect(inPrivate('172.31.255.255')).toBe('allowed');
    expect(inPrivate('fd12::1')).toBe('allowed');
    expect(inPrivate('172.32.0.1')).toContain('cluster.allow.networks');
    expect(inPrivate('127.0.0.1')).toContain('cluster.allow.networks');
    expect(inPrivate('::1')).not.toBe('allowed');

    const onLoopback = rules([api('localhost', '127.0.0.1')]);
    expect(onLoopback('127.0.2.11')).toBe('allowed');
    expect(onLoopback('::1')).toBe('allowed');
    expect(onLoopback('10.0.0.1')).not.toBe('allowed');
  });

  test('a public contact point allows its own hosts and no others', () => {
    const inPublic = rules([api('db.example', '203.0.113.1', '203.0.113.2')]);
    expect(inPublic('203.0.113.1')).toBe('allowed');
    expect(inPublic('203.0.113.2')).toBe('allowed');
    expect(inPublic('DB.example.', '203.0.113.77')).toBe('allowed');
    expect(inPublic('203.0.113.3')).not.toBe('allowed');
    expect(inPublic('10.0.0.1')).not.toBe('allowed');
    expect(inPublic('127.0.0.1')).not.toBe('allowed');
  });

  test('an allowed name does not allow every address it resolves to', () => {
    expect(rules([api('db.example', '203.0.113.1')])('db.example', '169.254.169.254')).toContain('metadata');
  });

  test('ports: the API’s own for the API, 5432 and the configured ones for PostgreSQL', () => {
    const port = rules([api('pg1', '10.0.0.1'), { use: 'postgres', host: 'pg1', port: 6000, addresses: ['10.0.0.1'] }]);
    expect(port('10.0.0.2', '10.0.0.2', 8008)).toBe('allowed');
    expect(port('10.0.0.2', '10.0.0.2', 5432, 'postgres')).toBe('allowed');
    expect(port('10.0.0.2', '10.0.0.2', 6000, 'postgres')).toBe('allowed');
    expect(port('10.0.0.2', '10.0.0.2', 22)).toContain('port 22');
    expect(port('10.0.0.2', '10.0.0.2', 5432)).toContain('port 5432');
    expect(port('10.0.0.2', '10.0.0.2', 8008, 'postgres')).toContain('port 8008');
    expect(port('10.0.0.2', '10.0.0.2', 22, 'postgres')).toContain('cluster.allow.ports');
  });
});

test('additions of the operator', () => {
  const added = rules([api('db.example', '203.0.113.1')], {
    networks: ['198.51.100.0/24', '2001:db8::/32', '192.0.2.7', 'nonsense', '10.0.0.0/99'],
    hosts: ['pg-9.example'],
    ports: [6432],
  });
  expect(added('198.51.100.200')).toBe('allowed');
  expect(added('2001:db8::5')).toBe('allowed');
  expect(added('192.0.2.7')).toBe('allowed');
  expect(added('192.0.2.8')).not.toBe('allowed');
  expect(added('PG-9.example', '203.0.113.99')).toBe('allowed');
  expect(added('203.0.113.1', '203.0.113.1', 6432)).toBe('allowed');
  expect(added('203.0.113.1', '203.0.113.1', 6432, 'postgres')).toBe('allowed');
});

describe('API URLs', () => {
  test.each([
    ['http://pg1:8008/patroni', 'http://pg1:8008', 'pg1', 8008],
    ['http://pg1:8008', 'http://pg1:8008', 'pg1', 8008],
    ['https://PG1/manager?x#y', 'https://pg1:443', 'pg1', 443],
    ['http://[fd00::1]:8008/', 'http://[fd00::1]:8008', 'fd00::1', 8008],
    ['http://0x7f.1:8008', 'http://127.0.0.1:8008', '127.0.0.1', 8008],
  ])('%s is %s', (text, url, host, port) => {
    expect(parseApiUrl(text)).toEqual({ kind: 'url', api: { url, address: { host, port } } });
  });

  test.each([
    ['ftp://pg1:8008/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://user@pg1:8008/', 'user information'],
    ['http://:secret@pg1:8008/', 'user information'],
    ['http://pg1:0/', 'port 0'],
    ['http://pg1:99999/', 'no URL'],
    ['http://', 'no URL'],
    ['pg1:8008', 'scheme'],
    ['', 'no URL'],
  ])('%s is refused', (text, why) => {
    const parsed = parseApiUrl(text);
    expect(parsed).toMatchObject({ kind: 'invalid', why: expect.stringContaining(why) });
    expect(JSON.stringify(parsed)).not.toContain('secret');
  });
});
