// Rules for causal reads: what they need of other keys.
import { isExclusive } from '../schema/defaults.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import { unreadableSecret } from './secret-file-rules.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

const QUESTIONS: Path = ['questions'];
const MODE: Path = ['client', 'tls', 'mode'];

export function readsRules(parsed: ParsedFile): readonly Fault[] {
  const passwordFile = parsed.questions?.password_file;
  return [
    ...unreadableSecret([...QUESTIONS, 'password_file'], passwordFile, 'causal reads are late'),
    ...needs(parsed),
  ];
}

function needs({ pools, client, moves, questions, workers, peers }: ParsedFile): readonly Fault[] {
  const hasPrimary = Object.values(pools).some((pool) => isExclusive(pool) && pool.check.family === 'primary');
  return Object.entries(pools).flatMap(([name, pool]) => {
    const { causal_reads: reads } = pool;
    if (reads === undefined || reads === false) return [];
    const at: Path = ['pools', name, 'causal_reads'];
    const { scope = 'cluster', late = 'primary' } = reads === true ? {} : reads;
    const faults: Fault[] = [];
    if (isExclusive(pool)) faults.push(error('a pool of one member has nothing to wait for: leave it out', at));
    if (!hasPrimary) faults.push(error('needs another pool with the check /primary, whose member is asked', at));
    if (questions === undefined) {
      const text = 'needs the section questions: write questions: { user: pointsman_monitor, password_file: FILE }';
      faults.push(error(text, at, QUESTIONS));
    }
    if (client.tls.mode === 'passthrough') {
      const text = 'needs a stream that can be read: use client.tls.mode terminate or require';
      faults.push(error(text, at, MODE));
    }
    if (scope === 'proxy' && workers !== 1) {
      const text =
        'scope: proxy needs workers: 1, because a worker learns of a write in another one too late: ' +
        'set workers: 1, or use scope: cluster';
      faults.push(error(text, [...at, 'scope'], ['workers']));
    }
    if (scope === 'proxy' && peers.length > 0) {
      const text = 'scope: proxy covers no write through the Pointsmen that peers names: they may be missed';
      faults.push(warning(text, [...at, 'scope'], ['peers']));
    }
    if (late === 'primary' && moves === undefined) {
      const text = 'late: primary needs the section moves: add it, or use late: error or late: stale';
      faults.push(error(text, at, ['moves']));
    }
    return faults;
  });
}
