// describe() for tests that need a real cluster.
import { describeUnless } from '../runner/unless-missing.ts';
import { patroniAvailability } from './availability.ts';

export function describeOnPatroni(name: string, define: () => void): void {
  const availability = patroniAvailability();
  const missing = availability.available ? undefined : `a real Patroni: ${availability.howToInstall}`;
  describeUnless(missing, name, define);
}
