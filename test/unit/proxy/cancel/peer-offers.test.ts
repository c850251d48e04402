// The peers that a cancel request is offered to, and how many connections that takes.
import { Duplex, PassThrough } from 'node:stream';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { addressText, type Address } from '../../../../src/model/member.ts';
import type { LocatePeer } from '../../../../src/proxy/options.ts';
import { PeerOffers } from '../../../../src/proxy/cancel/peer-offers.ts';
import type { DialResult } from '../../../../src/proxy/server.ts';
import { cancelRequest } from '../../../../src/wire/messages/cancel-key.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const PACKET = cancelRequest({ processId: 7, secret: 'abcd' });
const REFUSED: DialResult = { kind: 'failed', outcome: 'refused', isLocalFault: false, detail: 'connection refused' };
const peersOf = (count: number): Address[] =>
  Array.from({ length: count }, (_, index) => ({ host: `10.0.0.${index + 1}`, port: 6432 }));

interface Asked {
  readonly to: string;
  readonly timeoutMs: number;
  readonly fail: () => void;
  readonly connect: (socket?: Duplex) => Duplex;
}

class Lab {
  readonly clock = new ManualClock();
  readonly asked: Asked[] = [];
  aborted = 0;
  /** The outcome of each offer. */
  readonly told: string[] = [];
  readonly offers: PeerOffers;

  /** `locatePeer`: null for none. */
  constructor(names: readonly Address[], locatePeer: LocatePeer | null = (peer) => Promise.resolve([peer])) {
    this.offers = new PeerOffers({
      clock: this.clock,
      peers: () => names,
      ...(locatePeer && { locatePeer }),
      dial: (address, { timeoutMs }, onResult) => {
        const connect = (socket: Duplex = new PassThrough()): Duplex => {
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is used of a socket, a stream has
          onResult({ kind: 'connected', socket: socket as unknown as Socket });
          return socket;
        };
        this.asked.push({ to: addressText(address), timeoutMs, fail: () => onResult(REFUSED), connect });
        return () => void (this.aborted += 1);
      },
    });
  }

  offer(packet = PACKET): () => void {
    return this.offers.offer(packet, {
      onTaken: (peer) => this.told.push(`taken by ${addressText(peer)}`),
      onDone: () => this.told.push('done'),
      onNobody: () => this.told.push('nobody'),
    });
  }
}

test('each address gets one offer, whatever names lead there, and no more than sixteen do', async () => {
  const lab = new Lab(peersOf(2), () => Promise.resolve([...peersOf(17), ...peersOf(3)]));
  lab.offer();
  await lab.clock.advance(0);
  expect(lab.asked.map(({ to }) => to)).toEqual(peersOf(16).map(addressText));
  for (const { fail } of lab.asked) {
    expect(lab.told).toEqual([]);
    fail();
  }
  expect([lab.told, lab.clock.pending()]).toEqual([['nobody'], 0]);
});

test('beyond 512 connections nobody is asked, until others have ended', async () => {
  const lab = new Lab(peersOf(16));
  const stops = Array.from({ length: 33 }, () => lab.offer());
  await lab.clock.advance(0);
  expect([lab.asked.length, lab.told]).toEqual([512, ['nobody']]);
  stops[0]?.();
  stops[0]?.();
  lab.offer();
  lab.offer();
  await lab.clock.advance(0);
  expect([lab.asked.length, lab.told]).toEqual([528, ['nobody', 'nobody']]);
  await lab.clock.advance(3_000);
  expect(lab.told).toHaveLength(34);
  lab.offer();
  await lab.clock.advance(0);
  expect(lab.asked).toHaveLength(544);
});

test('a peer that has taken the connection is waited for, because its host may be busy', async () => {
  const lab = new Lab(peersOf(1), async (peer) => {
    await new Promise<void>((resolve) => lab.clock.schedule(900, resolve));
    return [peer];
  });
  lab.offer();
  await lab.clock.advance(900);
  expect(lab.asked.map(({ timeoutMs }) => timeoutMs)).toEqual([1_000]);
  const socket = lab.asked[0]?.connect(new Duplex({ read: () => {}, write: (_, __, done) => done() }));
  await lab.clock.advance(2_999);
  socket?.push('Y');
  await lab.clock.advance(0);
  expect(lab.told).toEqual(['taken by 10.0.0.1:6432']);
  socket?.destroy();
});

test('an offer that is stopped reports nothing, at whatever point, and leaves no timer', async () => {
  const lab = new Lab(peersOf(1));
  lab.offer()();
  await lab.clock.advance(0);
  expect(lab.asked).toEqual([]);
  const stop = lab.offer();
  await lab.clock.advance(0);
  stop();
  expect(lab.aborted).toBe(1);
  const late = lab.offer();
  await lab.clock.advance(0);
  const socket = lab.asked.at(-1)?.connect();
  late();
  await lab.clock.advance(10_000);
  expect([lab.told, lab.clock.pending(), socket?.destroyed]).toEqual([[], 0, true]);
});

test('without an address of a peer nobody is waited for', async () => {
  const unknown = new Lab(peersOf(1), () => Promise.resolve([]));
  const without = new Lab(peersOf(1), null);
  for (const lab of [unknown, without]) {
    lab.offer();
    await lab.clock.advance(0);
    expect([lab.asked, lab.told, lab.clock.pending()]).toEqual([[], ['nobody'], 0]);
  }
});

test('a peer that answers twice gets the request once', async () => {
  const lab = new Lab(peersOf(1));
  lab.offer();
  await lab.clock.advance(0);
  const written: Uint8Array[] = [];
  const socket = new Duplex({
    read: () => {},
    write: (chunk: Uint8Array, _, done) => {
      written.push(chunk);
      done();
    },
  });
  lab.asked[0]?.connect(socket);
  socket.push('Y');
  await lab.clock.advance(0);
  socket.push('Y');
  await lab.clock.advance(0);
  expect([written.length, lab.told]).toEqual([2, ['taken by 10.0.0.1:6432']]);
  socket.destroy();
  await lab.clock.advance(0);
  expect([lab.told.at(-1), lab.clock.pending()]).toEqual(['done', 0]);
});

test('a key that cannot be read is offered to nobody', () => {
  const lab = new Lab(peersOf(1));
  lab.offer(PACKET.subarray(0, 14));
  expect([lab.told, lab.clock.pending(), lab.offers.hasPeers()]).toEqual([['nobody'], 0, true]);
  expect(new Lab([]).offers.hasPeers()).toBe(false);
});
