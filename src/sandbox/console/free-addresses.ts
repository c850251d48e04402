// Checks whether the listeners' addresses are free, before a cluster is started for nothing.
import { errorCode } from '../../model/errno.ts';
import { whyNotFree } from '../postgres/free-ports.ts';

/** The first address (host:port) that another process listens on; undefined when all are free. */
export async function firstTaken(addresses: readonly string[]): Promise<string | undefined> {
  for (const address of addresses) {
    const { hostname, port } = new URL(`tcp://${address}`);
    const why = await whyNotFree(hostname.replace(/^\[|\]$/g, ''), Number(port));
    if (errorCode(why) === 'EADDRINUSE') return address;
  }
  return undefined;
}
