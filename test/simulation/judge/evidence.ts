// Writes go where the evidence of this Pointsman allows (G2, G3, G4). The bytes themselves were watched.
import type { Law } from './law.ts';

export const EVIDENCE: Law = {
  guarantee: 'G2, G3, G4',
  broken: ({ witnesses }) => witnesses.flatMap(({ broken }) => broken),
};
