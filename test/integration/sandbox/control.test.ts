// The control of a running sandbox from a second terminal, over real sockets.
import { afterEach, describe, expect, test } from 'vitest';
import { askToPerform, askEndpoints } from '../../../src/sandbox/console/control-client.ts';
import { listenForControl } from '../../../src/sandbox/console/control-server.ts';
import type { ControlTarget } from '../../../src/sandbox/console/control-server.ts';
import { findFreePorts } from '../../support/sockets/free-ports.ts';

const WHEREABOUTS = { scope: 'sandbox', write: 'postgresql://w', read: 'postgresql://r', config: 'cluster: {}' };
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listening(controlled: ControlTarget | undefined): Promise<string> {
  const [port] = await findFreePorts(1, ['127.0.0.1']);
  const address = `127.0.0.1:${port}`;
  const started = await listenForControl(address, () => controlled);
  closing.push(started.close);
  return address;
}

function echo(): ControlTarget & { readonly log: string[] } {
  const log: string[] = [];
  return {
    log,
    endpoints: () => WHEREABOUTS,
    async perform(verb, target) {
      log.push(`${verb} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${verb} ends`);
      const kind = target === 'pg-9' ? 'unknown' : verb === 'explode' ? 'refused' : 'done';
      return { kind, text: `${verb} ${target ?? 'nobody'}` };
    },
  };
}

describe('the request arrives, and the answer too', () => {
  test('verb, target and outcome', async () => {
    const address = await listening(echo());
    expect(await askToPerform(address, 'kill', 'primary')).toEqual({ kind: 'done', text: 'kill primary' });
    expect(await askToPerform(address, 'explode', undefined)).toEqual({ kind: 'refused', text: 'explode nobody' });
    expect(await askToPerform(address, 'kill', 'pg-9')).toEqual({ kind: 'unknown', text: 'kill pg-9' });
    expect(await askEndpoints(address)).toEqual(WHEREABOUTS);
  });

  test('one verb at a time', async () => {
    const controlled = echo();
    const address = await listening(controlled);
    await Promise.all(['kill', 'heal', 'lag'].map((verb) => askToPerform(address, verb, undefined)));
    for (let i = 0; i < controlled.log.length; i += 2) {
      expect(controlled.log[i + 1]).toBe(controlled.log[i]?.replace('begins', 'ends'));
    }
    expect(controlled.log).toHaveLength(6);
  });
});

describe('a request that cannot be done gets the reason', () => {
  test('no sandbox', async () => {
    const [port] = await findFreePorts(1, ['127.0.0.1']);
    const address = `127.0.0.1:${port}`;
    const text = `no sandbox runs at ${address}; \`pointsman sandbox\` starts one`;
    expect(await askToPerform(address, 'kill', undefined)).toEqual({ kind: 'failed', text });
    expect(await askEndpoints(address)).toEqual({ kind: 'failed', text });
  });

  test('still starting', async () => {
    const address = await listening(undefined);
    const answer = { kind: 'refused', text: 'the sandbox is still starting' };
    expect(await askToPerform(address, 'kill', undefined)).toEqual(answer);
    expect(await askEndpoints(address)).toEqual(answer);
  });

  test('the address is in use', async () => {
    const address = await listening(echo());
    const second = listenForControl(address, () => undefined);
    await expect(second).rejects.toThrow(`${address} is in use: is another sandbox running?`);
  });
});

async function post(init: RequestInit): Promise<[number, unknown]> {
  const response = await fetch(`http://${await listening(echo())}/`, init);
  return [response.status, await response.json()];
}

describe('a malformed order is refused', () => {
  test('a web page', async () => {
    const [status] = await post({
      method: 'POST',
      headers: { origin: 'http://evil.example' },
      body: '{"verb":"kill"}',
    });
    expect(status).toBe(403);
  });
  test.each(['', 'no json', '[]', '{"verb":1}', '{"verb":"kill","colour":"red"}'])('body %s', async (body) => {
    expect((await post({ method: 'POST', body }))[0]).toBe(400);
  });
  test('a long body', async () => {
    expect((await post({ method: 'POST', body: `{"verb":"${'x'.repeat(5000)}"}` }))[0]).toBe(413);
  });
  test('another method', async () => {
    expect((await post({ method: 'DELETE' }))[0]).toBe(405);
  });
});
