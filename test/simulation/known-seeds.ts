// Seeds whose histories once broke a law of judge/, each with the fault that it found, of the program or of a judge.
// They run in every run.
export const KNOWN_SEEDS: readonly { readonly seed: number; readonly found: string }[] = [
  { seed: 160, found: 'writers stayed on a silent primary when another one was proven on its timeline' },
  { seed: 223, found: 'the same, where a member lies about itself' },
  { seed: 255, found: 'a client whose login was under way was reset without a word' },
  { seed: 1342, found: 'reads went to a server that one writer had to try first, because it was in recovery' },
  { seed: 1464, found: 'writers stayed at a server of another cluster, which its API had shown' },
  { seed: 2347, found: 'the simulation: two other clusters had one address' },
  { seed: 2525, found: 'a judge: a document of a dead member is no sign of life' },
  { seed: 2571, found: 'a judge: a member had left the address that it was to be asked at in the first round' },
  { seed: 2887, found: 'a judge: reads had fallen back to a primary on a young yes' },
  { seed: 3127, found: 'a replica that had vanished came back on its old yes, when its PostgreSQL port accepted' },
  { seed: 3355, found: 'a judge: no answer had told of the newer timeline' },
  { seed: 3450, found: 'a judge: the other primary refused connections' },
  { seed: 3548, found: 'sessions at the old address of a silent replica outlived the clock of its silence' },
  { seed: 5240, found: 'a replica that had vanished came back when the others fell silent as well' },
  { seed: 5609, found: 'a judge: a document that an operation reads is no sign of life' },
  { seed: 5808, found: 'a judge: a yes of another cluster is no sign of life' },
  { seed: 5822, found: 'a judge: an error of ours may begin with the bytes of one of the server' },
  { seed: 6538, found: 'a judge: a manager whose wall clock went back believes in its old lease' },
  { seed: 6590, found: 'the simulation: two reloads ran at once' },
  { seed: 8887, found: 'a judge: a server of another cluster had come since the last yes' },
];
