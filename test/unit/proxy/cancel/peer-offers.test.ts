// The peers that a cancel request is offered to, and how many connections that takes.
import { PassThrough } from 'node:stream';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { addressText, type Address } from '../../../../src/model/member.ts';
import { PeerOffers } from '../../../../src/proxy/cancel/peer-offers.ts';
import type { DialResult } from '../../../../src/proxy/server.ts';
import { cancelRequest } from '../../../../src/wire/messages/cancel-key.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const PACKET = cancelRequest({ processId: 7, secret: 'abcd' });
const REFUSED: DialResult = { kind: 'failed', outcome: 'refused', isLocalFault: false, detail: 'connection refused' };
const peersOf = (count: number): Address[] =>
  Array.from({ length: count }, (_, index) => ({ host: `10.0.0.${index + 1}`, port: 6432 }));

class Lab {
  readonly clock = new ManualClock();
  readonly asked: { readonly to: string; readonly fail: () => void; readonly connect: () => PassThrough }[] = [];
  aborted = 0;
  /** The outcome of each offer. */
  readonly told: string[] = [];
  readonly offers: PeerOffers;

  constructor(names: readonly Address[], locatePeer = (peer: Address) => Promise.resolve<readonly Address[]>([peer])) {
    this.offers = new PeerOffers({
      clock: this.clock,
      peers: () => names,
      locatePeer,
      dial: (address, _limits, onResult) => {
        const connect = (): PassThrough => {
          const socket = new PassThrough();
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is used of a socket, a stream has
          onResult({ kind: 'connected', socket: socket as unknown as Socket });
          return socket;
        };
        this.asked.push({ to: addressText(address), fail: () => onResult(REFUSED), connect });
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
  await lab.clock.advance(1_000);
  expect(lab.told).toHaveLength(34);
  lab.offer();
  await lab.clock.advance(0);
  expect(lab.asked).toHaveLength(544);
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

test('a key that cannot be read is offered to nobody', () => {
  const lab = new Lab(peersOf(1));
  lab.offer(PACKET.subarray(0, 14));
  expect([lab.told, lab.clock.pending(), lab.offers.hasPeers()]).toEqual([['nobody'], 0, true]);
  expect(new Lab([]).offers.hasPeers()).toBe(false);
});
