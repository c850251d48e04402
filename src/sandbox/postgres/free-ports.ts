// Ports that stay free while no process listens on them: a killed member must find its port free when it returns. The
// kernel gives ephemeral ports to outgoing connections, so these ports lie below that range. No port is given out
// twice.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

export interface PortRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** The start of the ephemeral range on an untuned Linux. On other systems it starts higher (IANA: 49152). */
const USUAL_EPHEMERAL_START = 32_768;
const ENOUGH = 1_000;
const MAX_ATTEMPTS = 200;

const taken = new Set<number>();

export interface FreePortOptions {
  readonly range?: PortRange;
  readonly isFree?: (port: number) => Promise<boolean>;
  readonly random?: () => number;
}

/** A random port on 127.0.0.1. Rejects when none is found. */
export async function takeFreePort(options: FreePortOptions = {}): Promise<number> {
  const { range = await usualRange(), isFree = isFreeOnLoopback, random = Math.random } = options;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const port = range.from + Math.floor(random() * (range.to - range.from));
    if (taken.has(port)) continue;
    // Before the check, so that a parallel call cannot choose the same port.
    taken.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found on 127.0.0.1 between ${range.from} and ${range.to - 1}`);
}

/** `text` is the content of /proc/sys/net/ipv4/ip_local_port_range, for example `32768\t60999`. */
export function rangeBelowEphemeral(text: string | undefined): PortRange {
  const start = Number(text?.trim().split(/\s+/)[0]);
  const to = Number.isInteger(start) && start > 0 ? start : USUAL_EPHEMERAL_START;
  const from = [20_000, 10_000, 5_000].find((candidate) => to - candidate >= ENOUGH);
  // An ephemeral range that starts this low leaves no room below it.
  return from === undefined ? { from: 20_000, to: USUAL_EPHEMERAL_START } : { from, to };
}

async function usualRange(): Promise<PortRange> {
  return rangeBelowEphemeral(await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => undefined));
}

async function isFreeOnLoopback(port: number): Promise<boolean> {
  return (await whyNotFree('127.0.0.1', port)) === undefined;
}

/** The error of a listener there. A later one may still fail. */
export function whyNotFree(host: string, port: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
