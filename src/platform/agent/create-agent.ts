// `pointsman agent create`: stores the configuration of an agent as the caller wrote it.
import { readFileSync } from 'node:fs';
import { unreadable } from '../../config/files/unusable-files.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { isRecord, parseJson } from '../../model/json.ts';
import { asked, fail, openPlatform, type PlatformOptions, type PlatformParts } from '../platform-context.ts';

export interface CreateAgentOptions extends Pick<PlatformOptions, 'config'> {
  readonly file: string;
}

export async function createAgent(options: CreateAgentOptions, io: CliIo, parts: PlatformParts): Promise<number> {
  const { file } = options;
  let text: string;
  try {
    text = (io.readFile ?? ((name) => readFileSync(name, 'utf8')))(file);
  } catch (error) {
    return fail(io, `${file} ${unreadable(error)}`);
  }
  if (!isRecord(parseJson(text))) return fail(io, `${file} is no JSON object. Nothing was sent`);
  const context = await openPlatform(options, io, parts);
  const hint = ': look at the agents of the platform';
  const value = await asked(io, context.client.createAgent(text), hint);
  if (value === undefined) io.stderr('pointsman: the platform answered with success, and without a JSON document\n');
  else io.stdout(`${value}\n`);
  return EXIT.ok;
}
