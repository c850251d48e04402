// The units under a real systemd: notifications, the watchdog, restarts, confinement, credentials, reload, the time
// to stop, and one instance in another's place. The cluster behind Pointsman is a fake one: systemd is the subject.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Address } from '../../src/model/member.ts';
import { addressText } from '../../src/model/member.ts';
import { SystemdMachine, whyNoSystemd } from '../support/containers/systemd-machine.ts';
import { FakeCluster, freeAddresses } from '../support/labs/app-lab.ts';
import type { ConfigFile } from '../support/labs/app-lab.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';
import { askingClient, echoSession, isServed } from '../support/sockets/echo-session.ts';
import { until } from '../support/waiting/until.ts';

const SERVICE = 'pointsman.service';
const FILE = '/etc/pointsman/pointsman.yaml';
const TOKEN = 'only-systemd-knows';
const UNITS = new URL('../../deploy/systemd/', import.meta.url);
const WITHIN_MS = 30_000;

describeUnless(whyNoSystemd(), 'under a real systemd', () => {
  const ours = new AsyncDisposableStack();
  let cluster: FakeCluster;
  let machine: SystemdMachine;
  let write: Address;
  let admins: readonly [Address, Address];

  beforeAll(async () => {
    cluster = ours.adopt(await FakeCluster.start(), (one) => one.stop());
    const [first, second, third] = await freeAddresses(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error('no free port');
    [write, admins] = [first, [second, third]];
    machine = ours.use(await SystemdMachine.boot());
    for (const unit of [SERVICE, 'pointsman@.service', 'pointsman.socket'])
      await machine.write(`/etc/systemd/system/${unit}`, await readFile(new URL(unit, UNITS), 'utf8'));
    await machine.write('/etc/pointsman/token', TOKEN);
    const drop = '[Service]\nLoadCredential=token:/etc/pointsman/token\n';
    await machine.write(`/etc/systemd/system/${SERVICE}.d/token.conf`, drop);
    await machine.must('systemctl', 'daemon-reload');
  });

  afterEach(async () => {
    await machine.run('systemctl', 'stop', SERVICE, 'pointsman.socket', 'pointsman@*.service');
    await machine.run('systemctl', 'reset-failed');
  });

  afterAll(() => ours.disposeAsync());

  async function configure(changes: ConfigFile = {}): Promise<void> {
    const config = {
      cluster: cluster.section(),
      listeners: [{ address: addressText(write), pool: 'write' }],
      admin: { address: addressText(admins[0]) },
      shutdown: { grace: '0s', wait: '0s', drain_timeout: '1s' },
      ...changes,
    };
    await machine.write(FILE, stringify(config));
  }

  async function shown(unit: string, property: string): Promise<string> {
    return (await machine.must('systemctl', 'show', '--value', '-p', property, unit)).trim();
  }

  /** With other words in a drop-in of this test alone. */
  async function override(words: string, unit = SERVICE): Promise<AsyncDisposable> {
    const path = `/run/systemd/system/${unit}.d/test.conf`;
    await machine.write(path, words);
    await machine.must('systemctl', 'daemon-reload');
    return {
      [Symbol.asyncDispose]: async () => {
        await machine.must('rm', path);
        await machine.must('systemctl', 'daemon-reload');
      },
    };
  }

  /** The lines of this start of the service, and what systemd says of it. */
  async function journal(): Promise<string> {
    const id = await shown(SERVICE, 'InvocationID');
    const of = [`_SYSTEMD_INVOCATION_ID=${id}`, '+', `INVOCATION_ID=${id}`];
    return machine.must('journalctl', '--output', 'cat', ...of);
  }

  async function inForce(): Promise<string> {
    return (await fetch(`http://${addressText(admins[0])}/config`)).text();
  }

  async function become(state: string, unit = SERVICE): Promise<void> {
    await until(`${unit} ${state}`, async () => (await shown(unit, 'ActiveState')) === state, WITHIN_MS);
  }

  test('a start returns when it serves, and the process is confined', async () => {
    const token_file = '/run/credentials/pointsman.service/token';
    await configure({ admin: { address: addressText(admins[0]), token_file } });
    await machine.must('systemctl', 'start', SERVICE);
    const client = await echoSession(write);
    client.socket.destroy();
    expect(await shown(SERVICE, 'StatusText')).toBe('Serving');
    const pid = await shown(SERVICE, 'MainPID');
    const status = await machine.must('cat', `/proc/${pid}/status`);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).not.toMatch(/^Uid:\s+0\b/m);
    expect(await machine.must('cat', `/proc/${pid}/limits`)).toMatch(/^Max open files\s+11024\b/m);
    // The token came as a credential: an operation needs it.
    const drain = (token: string): Promise<Response> =>
      fetch(`http://${addressText(admins[0])}/members/pg-2/drain`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      });
    expect([(await drain('another')).status, (await drain(TOKEN)).status]).toEqual([401, 200]);
    expect(await machine.must('stat', '-c', '%a', '/var/lib/private/pointsman')).toBe('755\n');
  });

  test('with the lines of the unit that are off, the compiled program is kept for the next start', async () => {
    const unit = await readFile(new URL(SERVICE, UNITS), 'utf8');
    const lines = [...unit.matchAll(/^#((?:CacheDirectory|Environment=NODE_COMPILE_CACHE).*)$/gm)].map(
      ([, line]) => line,
    );
    expect(lines).toHaveLength(3);
    const told = 'Environment=NODE_DEBUG_NATIVE=COMPILE_CACHE';
    await using kept = await override(['[Service]', ...lines, told, ''].join('\n'));
    void kept;
    await configure();
    const accepted = /cache for .*start-command-line-index\.js.* was accepted/;
    await machine.must('systemctl', 'start', SERVICE);
    expect(await journal()).not.toMatch(accepted);
    await machine.must('systemctl', 'stop', SERVICE);
    expect(await machine.must('stat', '-L', '-c', '%a', '/var/cache/pointsman')).toBe('700\n');
    const files = await machine.must('find', '-L', '/var/cache/pointsman', '-type', 'f', '-printf', '%m\n');
    expect(new Set(files.trim().split('\n'))).toEqual(new Set(['600']));
    await machine.must('systemctl', 'start', SERVICE);
    expect(await journal()).toMatch(accepted);
  });

  test('a reload applies a valid file, and prints what is wrong with another one', async () => {
    await configure();
    await machine.must('systemctl', 'start', SERVICE);
    await configure({ hold: { client_timeout: '7s' } });
    await machine.must('systemctl', 'reload', SERVICE);
    await until('the reload', async () => (await inForce()).includes('7s'), WITHIN_MS);
    await machine.write(FILE, 'cluster: { seed: x }\n');
    expect((await machine.run('systemctl', 'reload', SERVICE)).code).not.toBe(0);
    expect(await journal()).toContain('did you mean cluster.seeds?');
    expect(await shown(SERVICE, 'ActiveState')).toBe('active');
    expect(await inForce()).toContain('7s');
    (await echoSession(write)).socket.destroy();
  });

  test('an event loop that stands still is noticed, a kill too, and a wrong file ends the attempts', async () => {
    await using fast = await override('[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\nRestartSec=100ms\n');
    void fast;
    await configure();
    await machine.must('systemctl', 'start', SERVICE);
    const again = async (how: string): Promise<void> => {
      const pid = await shown(SERVICE, 'MainPID');
      await machine.must('kill', `-${how}`, pid);
      const isOther = async (): Promise<boolean> =>
        (await shown(SERVICE, 'ActiveState')) === 'active' && !['0', pid].includes(await shown(SERVICE, 'MainPID'));
      await until(`another process after ${how}`, isOther, WITHIN_MS);
      (await echoSession(write)).socket.destroy();
    };
    await again('STOP');
    expect(await machine.must('journalctl', '--unit', SERVICE, '--output', 'cat')).toContain('Watchdog timeout');
    await again('KILL');
    await machine.write(FILE, 'cluster: { seed: x }\n');
    await machine.must('kill', '-KILL', await shown(SERVICE, 'MainPID'));
    await become('failed');
    expect(await shown(SERVICE, 'ExecMainStatus')).toBe('2');
  });

  test('a stop takes no longer than its limits, with a session that does not end', async () => {
    await configure();
    await machine.must('systemctl', 'start', SERVICE);
    const client = await echoSession(write);
    await machine.must('systemctl', 'stop', SERVICE);
    await until('the end of the session', () => client.hasEnded || client.isClosed);
    client.socket.destroy();
    expect(await shown(SERVICE, 'Result')).toBe('success');
    expect(await journal()).not.toContain('SIGKILL');
  });

  test('one instance takes the place of another, on the sockets that systemd holds', async () => {
    const [old, next] = admins.map(({ port }) => `pointsman@${port}.service`);
    if (old === undefined || next === undefined) throw new Error('no unit');
    const socket = `[Socket]\nListenStream=\nListenStream=${addressText(write)}\nService=${old}\n`;
    await using sockets = await override(socket, 'pointsman.socket');
    void sockets;
    await configure();
    await machine.must('systemctl', 'start', 'pointsman.socket');
    // The first client starts the first instance.
    const early = await askingClient(write);
    await until('the first client', () => isServed(early), WITHIN_MS);
    await machine.must('systemctl', 'start', next);
    await machine.must('systemctl', 'stop', '--no-block', old);
    await become('deactivating', old);
    for (let i = 0; i < 5; i += 1) (await echoSession(write)).socket.destroy();
    expect(early.hasEnded || early.isClosed).toBe(false);
    early.socket.destroy();
    await become('inactive', old);
    (await echoSession(write)).socket.destroy();
  });
});
