// A reporter for Stryker that prints a survivor as soon as it is known: a run over a whole room takes its time.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { replaced, type Place } from './report.ts';

interface TestedMutant {
  readonly status: string;
  readonly fileName: string;
  readonly replacement?: string;
  readonly location: Place;
}

class SurvivorReporter {
  onMutantTested({ status, fileName, location, replacement }: TestedMutant): void {
    if (['Killed', 'CompileError', 'RuntimeError', 'Ignored'].includes(status)) return;
    const code = replaced(readFileSync(fileName, 'utf8'), location);
    console.log(`${status}: ${relative('.', fileName)}:${location.start.line}\n  - ${code}\n  + ${replacement}`);
  }
}

export const strykerPlugins = [{ kind: 'Reporter', name: 'survivors', injectableClass: SurvivorReporter }];
