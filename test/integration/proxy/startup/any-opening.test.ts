// Any first bytes of a client, in any pieces, where Pointsman answers TLS: each connection ends, what it hears can be
// read by some client, and a server hears whole startup packets alone. A beginning as TLS stays with TLS (G18).
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mutated } from '../../../fuzz/mutation.ts';
import { Chance } from '../../../fuzz/target.ts';
import { opening } from '../../../fuzz/targets/opening.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { rounds } from '../../../support/runner/ci.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aStartup } from '../../../support/sockets/packets.ts';
import { SERVER } from '../../../support/values/tls-files.ts';
import { until } from '../../../support/waiting/until.ts';

const RUNS = rounds(150, 500);
/** Nothing, an error of PostgreSQL, an alert of TLS, HTTP; or an echo of the backend. */
const HEARD = ['', 'E', '\x15\x03', 'HTTP/1.1 ', '\0\0'];

/** Without requests to cancel: a backend ends those connections, and this one does not know them. */
const seeds = opening.seeds.filter((seed) => seed.length < 8 || Buffer.from(seed).readInt32BE(4) !== 80877102);
const words = opening.words.map((word) => Buffer.from(word, 'latin1'));
const sources = { words, others: seeds, longest: 600 };
const packets = fc
  .tuple(fc.constantFrom(...seeds, SSL_REQUEST, GSSENC_REQUEST, aStartup()), fc.option(fc.nat()))
  .map(([seed, mutation]) => (mutation === null ? seed : mutated(seed, new Chance(mutation), sources)));
const openings = fc.array(packets, { minLength: 1, maxLength: 3 }).map((all) => Buffer.concat(all));
const cuts = fc.array(fc.nat({ max: 80 }), { maxLength: 4 });

/** It begins with a whole startup packet, of whatever version, and with no request for encryption. */
function isWhole(heard: Buffer): boolean {
  const begins = (packet: Buffer): boolean => heard.subarray(4, 8).equals(packet.subarray(4, 8));
  if (heard.length < 8 || heard.readInt32BE(0) > heard.length) return false;
  return !begins(SSL_REQUEST) && !begins(GSSENC_REQUEST);
}

test.each([['terminate'], ['require']] as const)('any opening with TLS %s', async (mode) => {
  const backend = await startFakeBackend('echo');
  const lab = await startProxyLab({
    table: { write: { open: { 'pg-1': backend.address } }, read: { open: { 'pg-2': backend.address } } },
    client: { tls: { mode, ...SERVER }, maxDisconnectsPerSecond: 1_000_000 },
  });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(openings, cuts, async (bytes, at) => {
      const client = await connectRaw(lab.address('write'));
      client.socket.setNoDelay();
      const ends = [...at.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
      for (const [index, end] of ends.entries()) {
        client.socket.write(bytes.subarray(ends[index - 1] ?? 0, end));
        await turn();
      }
      client.socket.end();
      count += 1;
      await until('the end', () => client.isClosed && lab.closed().length === count);
      const heard = client.received().toString('latin1');
      // Behind the answers to at most three requests for encryption.
      const rest = heard.replace(/^[SN]{0,3}/, '');
      expect(
        HEARD.some((one) => (one === '' ? rest === '' : rest.startsWith(one))),
        heard,
      ).toBe(true);
      const { reason } = lab.closed().at(-1) ?? {};
      expect(reason).not.toBe('internal_error');
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  for (const connection of backend.connections) {
    const heard = connection.received();
    expect(heard.length === 0 || isWhole(heard), heard.toString('latin1')).toBe(true);
  }
  if (mode === 'require') expect(backend.connections).toHaveLength(0);
  await lab.end(backend);
});
