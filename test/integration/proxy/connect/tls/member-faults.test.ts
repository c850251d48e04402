// Every fault of TLS to a member (`backend.tls`), at a real PostgreSQL and at servers that only pose as one: the client
// reads the member and the fault, the server gets no session, and nothing crosses the wire in plain text.
import { X509Certificate } from 'node:crypto';
import { chmod, copyFile, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { checkMemberTls } from '../../../../../src/app/check-member-tls.ts';
import type { Address } from '../../../../../src/model/member.ts';
import type { MemberTls } from '../../../../../src/model/member-tls.ts';
import type { TlsFault } from '../../../../../src/model/tls-fault.ts';
import { startKeptSandbox } from '../../../../support/sandbox/kept-cluster.ts';
import type { Sandbox } from '../../../../../src/sandbox/sandbox.ts';
import { startProxyLab, type ProxyLab } from '../../../../support/labs/proxy-lab.ts';
import { missingForSandbox } from '../../../../support/runner/sandbox-availability.ts';
import { describeUnless } from '../../../../support/runner/unless-missing.ts';
import { refusesTls, speakTls, versionOf } from '../../../../support/sandbox/speak-tls.ts';
import { FUTURE, missingOpenssl, PAST, TestAuthority } from '../../../../support/sandbox/test-authority.ts';
import { close, listen } from '../../../../support/sockets/listen.ts';
import { SSL_REQUEST } from '../../../../support/sockets/packets.ts';
import { SentBytes } from '../../../../support/sockets/sent-bytes.ts';
import type { KeyPairPaths } from '../../../../support/values/tls-files.ts';
import { systemClock } from '../../../../support/waiting/system-clock.ts';
import { waitUntil } from '../../../../support/waiting/wait.ts';

const NAME = 'pg-1.db.test';
const MISNAMED = `the certificate of the server is not for ${NAME}`;
const UNTRUSTED = 'no trusted authority has signed the certificate of the server (backend.tls.ca_file)';
const EXPIRED = 'the certificate of the server, or that of its authority, has expired';
const CRL = '(backend.tls.crl_file)';
/** The types of TLS records (RFC 8446, 5.1). */
const [FIRST_RECORD, LAST_RECORD] = [20, 23];

interface World {
  readonly authority: TestAuthority;
  readonly other: TestAuthority;
  /** It has the name of `authority`, and another key. */
  readonly namesake: TestAuthority;
  /** Its own certificate has expired. */
  readonly past: TestAuthority;
  readonly pairs: Readonly<
    Record<'right' | 'own' | 'stranger' | 'expired' | 'ofThePast' | 'later' | 'clients', KeyPairPaths>
  >;
  readonly lists: Readonly<Record<'expired' | 'revoking' | 'others' | 'namesakes', string>>;
}

/** The certificate that the server shows. */
type Shown = keyof World['pairs'] | 'nothing';

async function makeWorld(): Promise<World> {
  const names = ['an authority', 'another', 'an authority'] as const;
  const [authority, other, namesake] = await Promise.all(names.map((name) => TestAuthority.create(name)));
  const past = await TestAuthority.create('of the past', PAST);
  if (authority === undefined || other === undefined || namesake === undefined) throw new Error('no authorities');
  const pairs = {
    right: await authority.issue(NAME),
    own: await authority.issue('pointsman.test'),
    stranger: await authority.issue('stranger.test'),
    expired: await authority.issue(NAME, { times: PAST }),
    ofThePast: await past.issue(NAME),
    later: await authority.issue(NAME, { times: FUTURE }),
    clients: await authority.issue(NAME, { more: ['extendedKeyUsage=clientAuth'] }),
  };
  const expired = await authority.list(PAST);
  await authority.revoke(pairs.right);
  const revoking = await authority.list();
  const lists = { expired, revoking, others: await other.list(), namesakes: await namesake.list() };
  return { authority, other, namesake, past, pairs, lists };
}

async function endOf({ cert }: KeyPairPaths): Promise<number> {
  return new X509Certificate(await readFile(cert)).validToDate.getTime();
}

/** A request for TLS, and nothing but records of TLS behind it. */
function expectEncrypted(connections: readonly Buffer[]): void {
  expect(connections.length).toBeGreaterThan(0);
  for (const sent of connections) {
    expect(sent.subarray(0, SSL_REQUEST.length)).toEqual(SSL_REQUEST);
    let at = SSL_REQUEST.length;
    while (at < sent.length) {
      const type = sent.readUInt8(at);
      expect(type >= FIRST_RECORD && type <= LAST_RECORD, `record of type ${type}`).toBe(true);
      at += 5 + sent.readUInt16BE(at + 3);
    }
  }
}

describeUnless(missingForSandbox ?? missingOpenssl, 'a member whose TLS fails', () => {
  let world: World;
  let sandbox: Sandbox;
  let server: Address;
  let logFile: string;
  let tap: SentBytes;
  let lab: ProxyLab;
  let shown: Shown = 'nothing';

  beforeAll(async () => {
    [world, sandbox] = await Promise.all([makeWorld(), startKeptSandbox({ members: 1 })]);
    const [member] = sandbox.members;
    if (member === undefined) throw new Error('a sandbox without a member');
    server = { host: member.host, port: member.port };
    logFile = join(dirname(await configured('log_connections = on')), 'log');
    tap = await SentBytes.on(server);
  }, 60_000);
  afterEach(() => lab.proxy.close());
  afterAll(async () => {
    await tap.stop();
    await Promise.all([
      world.authority.remove(),
      world.other.remove(),
      world.namesake.remove(),
      world.past.remove(),
      sandbox.stop(),
    ]);
  });

  /** Returns the server's data directory. */
  async function configured(setting: string): Promise<string> {
    const admin = new Client({ ...server, ...sandbox.superuser, database: 'postgres' });
    await admin.connect();
    await admin.query(`alter system set ${setting}`);
    await admin.query('select pg_reload_conf()');
    const { rows } = await admin.query<{ data_directory: string }>('show data_directory');
    await admin.end();
    return rows[0]?.data_directory ?? '';
  }

  async function show(what: Shown): Promise<void> {
    if (shown === what) return;
    shown = what;
    if (what !== 'nothing') {
      return speakTls({ ...server, ...sandbox.superuser, database: 'postgres' }, world.pairs[what]);
    }
    await configured('ssl = off');
    await waitUntil('no TLS', () => refusesTls(server), { timeoutMs: 10_000 });
  }

  /** Sessions of the application that this server has let in so far. */
  async function sessions(): Promise<number> {
    const lines = (await readFile(logFile, 'utf8')).split('\n');
    return lines.filter((line) => line.includes(`connection authorized: user=${sandbox.app.user} `)).length;
  }

  function tlsOf(own: Partial<MemberTls>): MemberTls {
    const { caFile } = world.authority;
    const pair = world.pairs.own;
    const usual = { mode: 'verify-full', crlFile: undefined, negotiation: 'request' } as const;
    return { ...usual, caFile, pair, serverName: NAME, minVersion: 'TLSv1.2', ...own };
  }

  async function login(at: Address, own: Partial<MemberTls>): Promise<Client> {
    const tls = tlsOf(own);
    const open = { open: { 'pg-1': at } };
    lab = await startProxyLab({ table: { write: open }, hold: { clientTimeoutMs: 50 }, backend: { tls } });
    const client = new Client({ ...lab.address('write'), ...sandbox.app });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function expectFault(at: Address, own: Partial<MemberTls>, reason: TlsFault, why: string): Promise<void> {
    const before = await sessions();
    const error: unknown = await login(at, own).catch((caught: unknown) => caught);
    const message = expect.stringContaining('(connect_failed)');
    expect(error).toMatchObject({ code: '08006', message, detail: expect.stringContaining(`pg-1: ${why}`) });
    const failures = lab.events.flatMap((event) => (event.kind === 'member_tls_failed' ? [event] : []));
    expect(failures.length).toBeGreaterThan(0);
    for (const event of failures) expect(event).toMatchObject({ member: 'pg-1', reason });
    expect(await sessions()).toBe(before);
    // No message names an address or a file, and nothing shows a key.
    const told = JSON.stringify([error, failures]);
    for (const hidden of [`:${at.port}`, at.host, world.authority.directory, 'PRIVATE']) {
      expect(told).not.toContain(hidden);
    }
  }

  test.each<[string, Shown, (of: World) => Partial<MemberTls>, TlsFault, string]>([
    ['no TLS', 'nothing', () => ({}), 'no_tls', 'the server has no TLS (backend.tls.mode is verify-full)'],
    [
      'no TLS',
      'nothing',
      () => ({ mode: 'verify-ca' }),
      'no_tls',
      'the server has no TLS (backend.tls.mode is verify-',
    ],
    ['a stranger of the same authority', 'stranger', () => ({}), 'wrong_name', MISNAMED],
    ['another name than {member}', 'stranger', () => ({ serverName: '{member}.db.test' }), 'wrong_name', MISNAMED],
    [
      'no name in the configuration',
      'right',
      () => ({ serverName: undefined }),
      'wrong_name',
      'the certificate of the server is not for its address',
    ],
    ['another authority', 'right', ({ other }) => ({ caFile: other.caFile }), 'untrusted', UNTRUSTED],
    [
      'another authority, without a name',
      'right',
      ({ other }) => ({ mode: 'verify-ca', caFile: other.caFile }),
      'untrusted',
      UNTRUSTED,
    ],
    ['the authorities of the system', 'right', () => ({ caFile: undefined }), 'untrusted', UNTRUSTED],
    [
      'a revoked certificate',
      'right',
      ({ lists }) => ({ crlFile: lists.revoking }),
      'revoked',
      'the certificate of the server, or that of its authority, is revoked',
    ],
    [
      'an old list of what is revoked',
      'right',
      ({ lists }) => ({ crlFile: lists.expired }),
      'crl',
      `the list of revoked certificates has expired ${CRL}`,
    ],
    [
      'the list of another authority',
      'right',
      ({ lists }) => ({ crlFile: lists.others }),
      'crl',
      `no list of revoked certificates is there for the server ${CRL}`,
    ],
    [
      'the list of a namesake',
      'right',
      ({ lists }) => ({ crlFile: lists.namesakes }),
      'crl',
      `another authority has signed the list of revoked certificates ${CRL}`,
    ],
    [
      'a certificate for clients',
      'clients',
      () => ({}),
      'untrusted',
      'the certificate of the server cannot be verified: unsuitable certificate purpose',
    ],
    ['an expired certificate', 'expired', () => ({}), 'expired', EXPIRED],
    ['an expired authority', 'ofThePast', ({ past }) => ({ caFile: past.caFile }), 'expired', EXPIRED],
    [
      'a certificate of the future',
      'later',
      () => ({ mode: 'verify-ca' }),
      'not_yet_valid',
      'the certificate of the server, or that of its authority, is not valid yet',
    ],
  ])('%s at a real server', async (_, what, own, reason, why) => {
    await show(what);
    tap.take();
    await expectFault(tap.address, own(world), reason, why);
    expectEncrypted(tap.take());
  });

  test('an older version of TLS than min_version', async () => {
    await show('right');
    await configured("ssl_max_protocol_version = 'TLSv1.2'");
    await waitUntil('the version', async () => (await versionOf(server)) === 'TLSv1.2', { timeoutMs: 10_000 });
    await expectFault(tap.address, { minVersion: 'TLSv1.3' }, 'handshake', 'the TLS handshake failed: tlsv1 alert');
    await configured("ssl_max_protocol_version = ''");
  });

  test('a member that refuses the certificate of Pointsman says so', async () => {
    const directory = await configured('log_connections = on');
    await copyFile(world.authority.caFile, join(directory, 'clients.crt'));
    await chmod(join(directory, 'clients.crt'), 0o644);
    await configured("ssl_ca_file = 'clients.crt'");
    // The server shows it once it has read all settings.
    await show('stranger');
    const strangers = await world.other.issue('pointsman.test');
    for (const [pair, alert] of [
      [strangers, 'unknown ca'],
      [world.pairs.expired, 'certificate expired'],
    ] as const) {
      const error: unknown = await login(tap.address, { pair, serverName: 'stranger.test' }).catch(
        (caught: unknown) => caught,
      );
      const why = `the server refuses the certificate of Pointsman: ${alert}`;
      expect(error).toMatchObject({ code: '57P03', detail: expect.stringContaining(`pg-1: ${why}`) });
      const failed = { kind: 'member_tls_failed', member: 'pg-1', reason: 'own_certificate', why };
      expect(lab.events).toContainEqual(failed);
      lab.proxy.close();
      const tls = tlsOf({ pair, serverName: 'stranger.test' });
      const backend = { connectTimeoutMs: 5_000, attemptDelayMs: undefined, connectAttempts: 1, tls };
      const { members } = await checkMemberTls({ backend }, [{ member: 'pg-1', address: server }], systemClock);
      expect(members.map((member) => member.why)).toEqual([why]);
    }
    await configured("ssl_ca_file = ''");
  });

  test('the right server is let through, and so is each certificate of the authority with verify-ca', async () => {
    for (const [what, own] of [
      ['right', {}],
      ['stranger', { mode: 'verify-ca' }],
      ['stranger', { serverName: 'stranger.test' }],
    ] as const) {
      await show(what);
      tap.take();
      const before = await sessions();
      const client = await login(tap.address, own);
      const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      await client.end();
      expect([rows, await sessions()]).toEqual([[{ ssl: true }], before + 1]);
      expectEncrypted(tap.take());
      const ends = { expiresAt: await endOf(world.pairs[what]), ownExpiresAt: await endOf(world.pairs.own) };
      expect(lab.events).toContainEqual({ kind: 'member_tls_verified', member: 'pg-1', ...ends });
      lab.proxy.close();
    }
  });

  test.each<[string, string, string]>([
    [
      'an error',
      'E\0\0\0\x20SFATAL\0C28000\0Mlog in elsewhere\0\0',
      'the server answered the request for TLS with an error',
    ],
    ['yes and an offer', 'SR\0\0\0\x08\0\0\0\x03', 'the server sent unencrypted data before the TLS handshake'],
    ['a login without TLS', 'R\0\0\0\x08\0\0\0\x03', 'the server answered the request for TLS with an error'],
  ])('G18: a server that answers the request with %s: its words reach nobody', async (_, answer, why) => {
    const stranger = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(answer, 'latin1'));
    });
    const near = await SentBytes.on({ host: '127.0.0.1', port: await listen(stranger) });
    try {
      await expectFault(near.address, {}, 'answer', why);
      for (const sent of near.take()) expect(sent).toEqual(SSL_REQUEST);
      expect(JSON.stringify(lab.events)).not.toContain('elsewhere');
    } finally {
      await near.stop();
      await close(stranger);
    }
  });
});
