// `pointsman cluster config edit`: the dynamic configuration in the operator's editor. The edited file is kept whenever
// its content was not applied.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliIo } from '../io.ts';
import { change, openConfig, type ConfigBase, type ChangeConfigOptions } from './config-change.ts';
import { patchBetween, withTextParameters } from './config-changes.ts';
import { parseConfig, yamlText } from './config-text.ts';
import { CommandEnd, fail, unlessEnded, wrong } from '../command-end.ts';
import type { ClusterCommand } from './cluster-context.ts';
import { patched } from '../../cluster/configuration-change.ts';
import type { ClusterConfiguration } from '../../documents/cluster-documents.ts';

const DEFAULT_EDITOR = 'vi';

export async function configEdit(command: ClusterCommand<ChangeConfigOptions>): Promise<number> {
  const { io } = command;
  const editor = io.env['VISUAL'] || io.env['EDITOR'] || (io.readLine === undefined ? undefined : DEFAULT_EDITOR);
  if (editor === undefined) return wrong(io, 'this is no terminal: set EDITOR or VISUAL, or use `config set`');
  const base = await openConfig(command);
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-config-'));
  const file = join(directory, 'configuration.yaml');
  await writeFile(file, headed(base), { mode: 0o600 });
  const code = await unlessEnded(() => editAndApply(editor, file, base));
  if (code instanceof CommandEnd) {
    io.stderr(`the edited configuration is kept in ${file}\n`);
    throw code;
  }
  await rm(directory, { recursive: true });
  return code;
}

function headed({ report, context, config }: ConfigBase): string {
  const where = `${report.scope ?? 'the cluster'}, read from ${context.control.source()}`;
  const how = 'Save and close to see the difference. Without a change nothing happens.';
  return `# Dynamic configuration of ${where}.\n# ${how}\n${yamlText(config)}`;
}

async function editAndApply(editor: string, file: string, base: ConfigBase): Promise<number> {
  const { context, config: before } = base;
  const changes = withTextParameters(patchBetween(before, patched({}, await edit(editor, file, context.io))));
  return change({ ...base, after: patched(before, changes), operation: { kind: 'patch_config', changes } });
}

/** On a terminal a file that cannot be read is edited again, if the operator likes. */
async function edit(editor: string, file: string, io: CliIo): Promise<ClusterConfiguration> {
  for (;;) {
    const failure = await runEditor(editor, file, io);
    if (failure !== undefined) return fail(io, `${failure}: nothing was changed`);
    const parsed = parseConfig(await readFile(file, 'utf8'));
    if (parsed.kind === 'config') return parsed.config;
    io.stderr(parsed.problems.map((problem) => `pointsman: the edited configuration: ${problem}\n`).join(''));
    const answer = (await io.readLine?.('Edit it again? [Y/n] '))?.trim();
    if (answer === undefined || /^no?$/i.test(answer)) return fail(io, 'nothing was changed');
  }
}

/** The variable may have options: `code --wait`. Undefined: the editor ended well. */
function runEditor(editor: string, file: string, { env }: CliIo): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env });
    child.on('error', (error) => resolve(`the editor ${editor} cannot be started (${error.message})`));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(`the editor ${editor} ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}
