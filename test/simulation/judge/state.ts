// A session keeps its state, and sees nothing older than before (G24). Its client compares.
import type { Law } from './law.ts';

export const STATE: Law = {
  guarantee: 'G24',
  broken: ({ clients }) =>
    clients.flatMap(({ account }) => account.differences.map((difference) => `${account.name}: ${difference}`)),
};
