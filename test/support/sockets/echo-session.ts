// A client of the echoing backends: its session is there when its startup packet has come back.
import type { Address } from '../../../src/model/member.ts';
import { aStartup } from './packets.ts';
import { connectRaw } from './raw-client.ts';
import type { RawClient } from './raw-client.ts';
import { until } from '../waiting/until.ts';

/** Connects and asks; whether it is served is another matter. */
export async function askingClient(at: Address): Promise<RawClient> {
  const client = await connectRaw(at);
  client.socket.write(aStartup());
  return client;
}

export function isServed(client: RawClient): boolean {
  return client.received().equals(aStartup());
}

export async function echoSession(at: Address): Promise<RawClient> {
  const client = await askingClient(at);
  await until('the session', () => isServed(client));
  return client;
}

/** Bytes go there and back. */
export async function stillEchoes(client: RawClient): Promise<void> {
  const before = client.received();
  const words = Buffer.from(`still there, with ${before.length} bytes`);
  client.socket.write(words);
  await until('the echo', () => client.received().equals(Buffer.concat([before, words])));
}

export function isOver(client: RawClient): boolean {
  return client.hasEnded || client.isClosed;
}
