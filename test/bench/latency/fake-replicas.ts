// Servers of this process that answer each query after a time, beside a primary that has no server: nobody asks for it.
import { setTimeout as delay } from 'node:timers/promises';
import { ANSWER, startTimedServer } from '../../support/fakes/timed-server.ts';
import { aMessage } from '../../support/sockets/messages.ts';
import { BenchClient } from '../follower/client.ts';
import { startMembers } from '../probing/cluster.ts';
import type { Delays, Replicas } from './replicas.ts';

const EXCHANGE = { name: 'query', query: aMessage('Q', Buffer.from('select 1\0')), reply: ANSWER };

export async function startFakeReplicas({ replyMs, slower }: Delays): Promise<Replicas> {
  const waits = [replyMs, replyMs, replyMs * slower].map((ms) => () => delay(ms));
  const servers = await Promise.all(waits.map((wait) => startTimedServer(wait)));
  const cluster = await startMembers(1 + servers.length);
  return {
    members: cluster.members.map(({ name, api }, index) => {
      const port = index === 0 ? 1 : servers[index - 1]?.address.port;
      return { name, api: api.url, postgres: `127.0.0.1:${port}` };
    }),
    open: async (port) => {
      const client = await BenchClient.open(port, 'readable');
      return { ask: () => client.ask(EXCHANGE, 1), close: async () => client.close() };
    },
    sessions: () => ({
      all: servers.reduce((sum, { logins }) => sum + logins, 0),
      onSlow: servers.at(-1)?.logins ?? 0,
    }),
    [Symbol.asyncDispose]: async () => {
      await cluster[Symbol.asyncDispose]();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
