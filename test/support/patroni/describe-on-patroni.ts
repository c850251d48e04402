// describe() for tests that need a real cluster: skipped with one line that says how to install what is
// missing; in CI a missing installation is a failure, because a skipped suite looks like a passed one.
import { describe, it } from 'vitest';
import { patroniAvailability } from './availability.ts';

export function describeOnPatroni(name: string, define: () => void): void {
  const availability = patroniAvailability();
  if (availability.available) {
    describe(name, define);
  } else if (isSet(process.env['CI'])) {
    describe(name, () => {
      it('has a real Patroni to run on', () => {
        throw new Error(`Patroni is not installed: ${availability.howToInstall}`);
      });
    });
  } else {
    console.warn(`skipped: ${name}. It needs a real Patroni: ${availability.howToInstall}`);
    describe.skip(name, define);
  }
}

function isSet(variable: string | undefined): boolean {
  return variable !== undefined && variable !== '' && variable !== 'false' && variable !== '0';
}
