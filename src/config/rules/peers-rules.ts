// Rules for `peers`, each with its reason.
import { addressText, isSameAddress } from '../../model/member.ts';
import { error, warning, type Fault } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

const EVERY_INTERFACE = ['0.0.0.0', '::'];

export function peersRules({ peers, listeners }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  for (const [i, peer] of peers.entries()) {
    if (EVERY_INTERFACE.includes(peer.host)) {
      const text = `${addressText(peer)} is every interface of a host: name the address where the peer is reached`;
      faults.push(error(text, ['peers', i]));
    }
    if (peers.findIndex((other) => isSameAddress(other, peer)) !== i)
      faults.push(error(`${addressText(peer)} is named already`, ['peers', i]));
  }
  const isOwn = peers.map((peer) => listeners.some(({ address }) => isSameAddress(address, peer)));
  if (peers.length > 0 && isOwn.every(Boolean))
    faults.push(warning('names this Pointsman alone: name the others, too', ['peers'], ['listeners']));
  return faults;
}
