// `pointsman cluster config show`: the dynamic configuration, as YAML or JSON.
import { EXIT, type CliIo } from '../io.ts';
import { yamlText } from './config-text.ts';
import { openContext, type ClusterOptions, type ClusterParts } from './cluster-context.ts';
import { fail } from '../command-end.ts';
import { json } from '../json.ts';

export async function configShow(options: ClusterOptions, io: CliIo, parts: ClusterParts): Promise<number> {
  const context = await openContext(options, io, parts);
  const config = await context.control.config();
  if (config.kind === 'unreadable') return fail(io, config.why);
  io.stdout(options.json === true ? json({ config: config.value }) : yamlText(config.value));
  return EXIT.ok;
}
