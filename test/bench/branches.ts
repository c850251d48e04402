// `npm run bench:branches`: what a long list of branches costs: its preparation after each read, and the lookup of the
// target of a session, by the number of branches.
import { indexBranches } from '../../src/branches/resolve.ts';
import { ROOT, branch, branchesPolicy } from '../support/values/branch-lists.ts';
import { median } from '../support/values/median.ts';
import { readNumbers } from './numbers.ts';

const BRANCHES = [10, 100, 1_000, 10_000];
/** A round prepares lists of `each` branches together, and makes as many lookups. */
const { rounds: ROUNDS, each: EACH } = readNumbers({ rounds: 9, each: 100_000 });

/** Microseconds of one run, the median of the rounds behind the first, which warms up. */
function each(times: number, run: (at: number) => void): number {
  const figures: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const startedAt = performance.now();
    for (let at = 0; at < times; at += 1) run(at);
    if (round > 0) figures.push(((performance.now() - startedAt) * 1000) / times);
  }
  return median(figures);
}

const rows = [
  ['branches', 'the list is prepared, ms', 'for each branch, µs', 'a lookup by id, µs', 'by slug, µs'],
  Array.from({ length: 5 }, () => '---'),
];
for (const count of BRANCHES) {
  const policy = branchesPolicy();
  const list = Array.from({ length: count }, (_, at) => branch(`br-${at}`, { name: `feature/PR_${at}` }));
  const prepared = each(Math.max(1, Math.round(EACH / count)), () => indexBranches([ROOT, ...list], policy));
  const index = indexBranches([ROOT, ...list], policy);
  const found = (target: string): void => {
    if (index.lookup(target, 'write').kind !== 'found') throw new Error(`${target} is not found`);
  };
  const byId = each(EACH, (at) => found(`br-${at % count}`));
  const bySlug = each(EACH, (at) => found(`feature-pr-${at % count}`));
  const figures = [prepared / 1000, prepared / count, byId, bySlug];
  rows.push([String(count), ...figures.map((figure) => figure.toFixed(2))]);
}
process.stdout.write(`${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
