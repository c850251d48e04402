// `pointsman cluster config show`, `set` and `replace`: the dynamic configuration. Every change of it uses this file:
// the difference, its consequences, and the check that no other party changed the configuration meanwhile.
import { isDeepStrictEqual } from 'node:util';
import { unreadable } from '../../config/files/unusable-files.ts';
import { readWhole } from '../../config/source/read-file.ts';
import { patched } from '../../cluster/configuration-change.ts';
import type { ClusterOperation } from '../../cluster/control.ts';
import type { ClusterConfiguration, ClusterReport } from '../../documents/cluster-documents.ts';
import { EXIT, type CliIo } from '../io.ts';
import { paintFor } from '../terminal/colour.ts';
import { parseAssignments, patchBetween, withTextParameters } from './config-changes.ts';
import { unknownKeys, wrongValues } from './config-values.ts';
import { differenceText, parseConfig, yamlText, type ParsedConfig } from './config-text.ts';
import { restartsText } from './config-restarts.ts';
import { openContext, openReport, valueOf, type ChangeOptions } from './cluster-context.ts';
import type { ClusterCommand, ClusterContext } from './cluster-context.ts';
import { CommandEnd, wrong } from '../command-end.ts';
import { json } from '../json.ts';
import { noChange, perform } from './cluster-change.ts';

export interface ChangeConfigOptions extends ChangeOptions {
  /** Values that are known to be wrong, too. */
  readonly anyValue?: boolean | undefined;
}

export async function configShow(command: ClusterCommand): Promise<number> {
  const { control, options, io } = await openContext(command);
  const config = valueOf(await control.config(), io);
  io.stdout(options.json === true ? json({ config }) : yamlText(config));
  return EXIT.ok;
}

export async function configSet(
  command: ClusterCommand<ChangeConfigOptions>,
  given: readonly string[],
): Promise<number> {
  const changes = withTextParameters(usable(parseAssignments(given), '', command.io));
  const base = await openConfig(command);
  const after = patched(base.config, changes);
  const operation = { kind: 'patch_config', changes } as const;
  return change({ ...base, after, operation });
}

export async function configReplace(command: ClusterCommand<ChangeConfigOptions>, file: string): Promise<number> {
  const { io } = command;
  const config = usable(parseConfig(readText(file, io)), `${file}:`, io);
  const base = await openConfig(command);
  const after = withTextParameters(patched({}, config));
  const operation = { kind: 'replace_config', config: after } as const;
  return change({ ...base, after, operation });
}

/** Ends the command if there are problems. `place` is put before each of them. */
function usable(parsed: ParsedConfig, place: string, io: CliIo): ClusterConfiguration {
  if (parsed.kind === 'config') return parsed.config;
  io.stderr(parsed.problems.map((problem) => `pointsman: ${place}${problem}\n`).join(''));
  throw new CommandEnd(EXIT.usage);
}

/** Ends the command if it cannot be read. */
function readText(file: string, io: CliIo): string {
  try {
    return (io.readFile ?? readWhole)(file);
  } catch (error) {
    return wrong(io, `${file} ${unreadable(error)}`);
  }
}

export interface ConfigBase {
  readonly context: ClusterContext<ChangeConfigOptions>;
  readonly report: ClusterReport;
  /** Before the change. */
  readonly config: ClusterConfiguration;
}

export async function openConfig(command: ClusterCommand<ChangeConfigOptions>): Promise<ConfigBase> {
  const { context, report } = await openReport(command);
  return { context, report, config: valueOf(await context.control.config(), command.io) };
}

interface ConfigurationChange extends ConfigBase {
  readonly after: ClusterConfiguration;
  readonly operation: Extract<ClusterOperation, { kind: 'patch_config' | 'replace_config' }>;
}

/** Ends the command if there is a change that was not applied. */
export async function change({
  context,
  report,
  config: before,
  after,
  operation,
}: ConfigurationChange): Promise<number> {
  const { io, options, control } = context;
  const paint = paintFor(io);
  if (isDeepStrictEqual(before, after))
    return noChange('no change: the configuration already has these values', context);
  const faults = wrongValues(before, after);
  if (faults.length > 0 && options.anyValue !== true) {
    const text = faults.map((fault) => `pointsman: ${fault}\n`).join('');
    io.stderr(`${text}Nothing was sent. --any-value sends it all the same.\n`);
    throw new CommandEnd(EXIT.failure);
  }
  const restarts = restartsText(before, after, report);
  const difference = differenceText(before, after, paint);
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const isWhole = operation.kind === 'replace_config';
  await perform(
    {
      plan: `Change the configuration of ${report.scope ?? 'the cluster'}\n\n${difference}\n${restarts}`,
      warnings: [
        ...faults,
        ...unknownKeys(before, patchBetween(before, after)),
        ...(isWhole && removed.length > 0 ? [`the file does not have ${removed.join(', ')}: that is removed`] : []),
      ],
      question: isWhole ? 'Replace the whole configuration?' : 'Apply this change?',
      steps: [{ operation, title: 'the change of the configuration' }],
      verify: async () => {
        const now = await control.config();
        if (now.kind === 'unreadable') return now.why;
        return isDeepStrictEqual(now.value, before) ? undefined : conflictText(before, now.value, paint);
      },
    },
    context,
  );
  if (options.json !== true && options.yes === true) io.stdout(restarts);
  return EXIT.ok;
}

function conflictText(
  before: ClusterConfiguration,
  now: ClusterConfiguration,
  paint: ReturnType<typeof paintFor>,
): string {
  const difference = differenceText(before, now, paint);
  return `the configuration was changed by another party meanwhile, so nothing was sent. Their change:\n${difference}`;
}
