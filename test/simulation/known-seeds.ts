// Seeds whose histories once broke a law of judge/, each with the fault that it found. They run in every run.
export const KNOWN_SEEDS: readonly { readonly seed: number; readonly found: string }[] = [
  { seed: 160, found: 'writers stayed on a silent primary when another one was proven on its timeline' },
  { seed: 223, found: 'the same, where a member lies about itself' },
  { seed: 255, found: 'a client whose login was under way was reset without a word' },
  { seed: 1342, found: 'reads went to a server that one writer had to try first, because it was in recovery' },
  { seed: 1464, found: 'writers stayed at a server of another cluster, which its API had shown' },
  { seed: 2514, found: 'a judge: a session whose transaction had failed before its move was no transaction that is cut' },
  { seed: 2571, found: 'a judge: a member had left the address that it was to be asked at in the first round' },
  { seed: 3127, found: 'a replica that had vanished came back on its old yes, when its PostgreSQL port accepted' },
  { seed: 3548, found: 'sessions at the old address of a silent replica outlived the clock of its silence' },
];
