// `pointsman config`: the configuration in effect, and the pages that are generated from the descriptions of the keys.
import { effectiveYaml } from '../config/reference/effective.ts';
import { editorSchema } from '../config/reference/editor-schema.ts';
import { exampleFile } from '../config/reference/example-file.ts';
import { referencePage } from '../config/reference/reference-page.ts';
import type { ConfigTopic } from './config-topics.ts';
import { configFor } from './configuration.ts';
import type { ConfigOptions } from './configuration.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';

/** Only `print` reads a configuration; its exit code is 2 when that is not valid. */
export function config(topic: ConfigTopic, options: ConfigOptions, io: CliIo): number {
  if (topic === 'print') {
    const loaded = configFor(options, io);
    if (loaded === undefined) return EXIT.usage;
    io.stdout(effectiveYaml(loaded.config));
    return EXIT.ok;
  }
  const generate = { schema: editorSchema, reference: referencePage, example: exampleFile }[topic];
  io.stdout(generate());
  return EXIT.ok;
}
