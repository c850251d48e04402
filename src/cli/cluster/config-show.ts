// `pointsman cluster config show`: the dynamic configuration, as YAML or JSON.
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { yamlText } from './config-text.ts';
import { fail, openContext } from './cluster-context.ts';
import type { ClusterOptions, ClusterParts } from './cluster-context.ts';
import { json } from '../json.ts';

export async function configShow(options: ClusterOptions, io: CliIo, parts: ClusterParts): Promise<number> {
  const context = await openContext(options, io, parts);
  if (typeof context === 'number') return context;
  const config = await context.control.config();
  if (config.kind === 'unreadable') return fail(io, config.why);
  io.stdout(options.json === true ? json({ config: config.value }) : yamlText(config.value));
  return EXIT.ok;
}
