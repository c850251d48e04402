// A reporter for Stryker that prints a survivor as soon as it is known: a run over a whole room takes its time.
import { relative } from 'node:path';

interface TestedMutant {
  readonly status: string;
  readonly fileName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number } };
}

class SurvivorReporter {
  onMutantTested({ status, fileName, location, replacement }: TestedMutant): void {
    if (['Killed', 'CompileError', 'RuntimeError', 'Ignored'].includes(status)) return;
    console.log(`${status}: ${relative('.', fileName)}:${location.start.line}  ${replacement}`);
  }
}

export const strykerPlugins = [{ kind: 'Reporter', name: 'survivors', injectableClass: SurvivorReporter }];
