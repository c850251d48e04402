// Writes go where the evidence of this Pointsman allows (G2, G3, G4). The bytes themselves were watched.
import type { Law } from './law.ts';
import { mayTakeAStranger } from './strangers.ts';

export const EVIDENCE: Law = {
  guarantee: 'G2, G3, G4',
  broken: ({ witnesses, plan }) => (mayTakeAStranger(plan) ? [] : witnesses).flatMap(({ broken }) => broken),
};
