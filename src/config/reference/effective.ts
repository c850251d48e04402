// The configuration in effect as a file: what was written and what the environment overrides, with every default.
import { stringify } from 'yaml';
import type { Config } from '../config.ts';
import { effectiveFile } from '../written-form.ts';

/** YAML that loads. The token is not in it. */
export function effectiveYaml({ file }: Config): string {
  const note = file.admin.token === undefined ? '' : '# admin.token is set. It is not shown.\n';
  return note + stringify(effectiveFile(file), { lineWidth: 0 });
}
