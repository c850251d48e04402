// Clients that are connected to one member directly, be it the primary or not: writes without a proxy.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { Credentials } from '../../../support/patroni/settings.ts';
import { connectionConfig } from '../../../support/patroni/sql.ts';
import { insertDirect } from '../database.ts';
import { FIRST_DIRECT_CLIENT } from '../history.ts';

const EVERY_MS = 200;
const PATIENCE_MS = 2000;

/** The function that stops them. */
export function startDirectClients(members: readonly MemberAddress[], as: Credentials): () => Promise<void> {
  const stopping = new AbortController();
  const working = members.map((member, at) => write(FIRST_DIRECT_CLIENT + at, member, as, stopping.signal));
  return async () => {
    stopping.abort();
    await Promise.all(working);
  };
}

async function write(id: number, member: MemberAddress, as: Credentials, signal: AbortSignal): Promise<void> {
  let client: Client | undefined;
  for (let n = 1; !signal.aborted; n += 1) {
    try {
      client ??= await connect(member, as);
      await client.query(insertDirect(id, n));
    } catch {
      // Not awaited: a frozen server never says goodbye.
      client?.end().catch(() => undefined);
      client = undefined;
    }
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  client?.end().catch(() => undefined);
}

async function connect(member: MemberAddress, as: Credentials): Promise<Client> {
  const client = new Client(connectionConfig(member, as, PATIENCE_MS));
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
