// describe() for tests that need a real cluster.
import { describeUnless } from '../runner/unless-missing.ts';
import { isWanted } from '../runner/wanted-clusters.ts';
import { patroniAvailability } from './availability.ts';

/** Registers nothing in a project for the sandbox, where the file may have other tests. */
export function describeOnPatroni(name: string, define: () => void): void {
  if (!isWanted('patroni')) return;
  const availability = patroniAvailability();
  const missing = availability.available ? undefined : `a real Patroni: ${availability.howToInstall}`;
  describeUnless(missing, name, define);
}
