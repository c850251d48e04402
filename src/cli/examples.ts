// The end of a command's help.

/** A test runs each example of each command against a sandbox with the members pg-1 to pg-3. */
export function examples(...lines: readonly string[]): string {
  return ['\nExamples:', ...lines.map((line) => `  ${line}`)].join('\n');
}
