// `pointsman switchover` while its Pointsman takes requests and does not answer: its host may be busy.
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { runCli } from '../../../src/cli/program.ts';
import type { OperationDocument } from '../../../src/documents/switchover-document.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { PLAN } from '../../support/labs/a-plan.ts';
import { anOperation } from '../../support/labs/an-operation.ts';
import { listen } from '../../support/sockets/listen.ts';

const TOKEN = '0123456789abcdef-operator';

let operation: OperationDocument;
/** Requests for the operation. Each takes two seconds. */
let unanswered: number;
let admin: ReturnType<typeof createAdmin>;
/** In front of the admin server. */
let front: Server;
let address: string;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  operation = anOperation(['check', 'hold']);
  const switchovers = {
    plan: () => Promise.resolve(PLAN),
    start: () => Promise.resolve({ kind: 'started', operation } as const),
    list: () => [],
    find: () => operation,
    cancel: () => expect.unreachable(),
  };
  admin = createAdmin(adminOptions({ switchovers, token: () => Promise.resolve({ kind: 'token', value: TOKEN }) }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  const { port } = listening.address;
  front = createServer((client) => {
    client.on('error', () => {});
    client.once('data', (request) => {
      if (unanswered === 0 || !request.includes('GET /operations/')) {
        const server = connect({ host: '127.0.0.1', port });
        server.write(request);
        client.pipe(server).pipe(client);
        return;
      }
      unanswered -= 1;
      vi.advanceTimersByTime(2_000);
      operation = anOperation(['check', 'hold', 'release'], { outcome: 'done', why: 'pg-2 is the primary' });
      client.destroy();
    });
  });
  address = `127.0.0.1:${await listen(front)}`;
});
afterEach(async () => {
  vi.useRealTimers();
  front.close();
  await once(front, 'close');
  await admin.close();
});

async function follow(): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const io = {
    env: { POINTSMAN_ADMIN_TOKEN: TOKEN },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
  };
  const code = await runCli(['switchover', '--yes', '--admin', address], io, cliParts());
  return { code, out, err };
}

test('a silent Pointsman is followed for half a minute', async () => {
  unanswered = 14;
  expect(await follow()).toMatchObject({ code: 0, out: expect.stringContaining('done: pg-2 is the primary') });
  expect(unanswered).toBe(0);
});

test('a Pointsman that is silent for longer is not followed', async () => {
  unanswered = Infinity;
  const { code, err } = await follow();
  expect(code).toBe(1);
  expect(err).toContain('the switchover cannot be followed any more: no answer from');
});
