// `pointsman config`: the configuration in effect, and the pages that are generated from the descriptions of the keys.
import { effectiveYaml } from '../config/reference/effective.ts';
import { editorSchema } from '../config/reference/editor-schema.ts';
import { exampleFile } from '../config/reference/example-file.ts';
import { referencePage } from '../config/reference/reference-page.ts';
import { configDocument } from '../config/reference/settings.ts';
import { configFor, type ConfigOptions } from './configuration.ts';
import { EXIT, type CliIo } from './io.ts';
import { json } from './json.ts';

export interface PrintOptions extends ConfigOptions {
  readonly json?: boolean | undefined;
  readonly onlyChanged?: boolean | undefined;
}

/** Exit code 2 when the configuration is not valid. */
export function printConfig(options: PrintOptions, io: CliIo): number {
  const loaded = configFor(options, io);
  const { onlyChanged = false } = options;
  if (options.json === true) io.stdout(json({ ...configDocument(loaded.config, onlyChanged) }));
  else io.stdout(effectiveYaml(loaded.config, onlyChanged));
  return EXIT.ok;
}

export function printPage(page: 'schema' | 'reference' | 'example', io: CliIo): number {
  const generate = { schema: editorSchema, reference: referencePage, example: exampleFile }[page];
  io.stdout(generate());
  return EXIT.ok;
}
