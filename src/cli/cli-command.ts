// A command of the command line, and the options that several commands have.
import { Command, InvalidArgumentError } from 'commander';
import { parseDuration } from '../config/schema/duration.ts';
import { CommandEnd } from './command-end.ts';
import { EXIT } from './io.ts';

/** The options that locate a running Pointsman: flags, and words for the help. */
export const LOCATION = {
  config: ['-c, --config <file>', 'the configuration file (YAML)'],
  admin: ['--admin <address>', 'HOST:PORT or URL of the running Pointsman (default: admin.address)'],
  admins: [
    '--admin <addresses>',
    'HOST:PORT or URL of the running Pointsman (default: admin.address); of several: separated by commas, or a DNS ' +
      'name that has several addresses',
  ],
} as const;

/** The arguments, the options and the command, as commander passes them. */
type ActionParameters = Parameters<Parameters<Command['action']>[0]>;

export class CliCommand extends Command {
  declare readonly commands: readonly CliCommand[];

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** The result of `act` is the exit code. */
  runs(act: (...given: ActionParameters) => number | Promise<number>): this {
    return this.action(async (...given: ActionParameters) => {
      const code = await act(...given);
      if (code !== EXIT.ok) throw new CommandEnd(code);
    });
  }

  /** The end of the help. A test runs each example against a sandbox with the members pg-1 to pg-3. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', ['\nExamples:', ...lines.map((line) => `  ${line}`)].join('\n'));
  }

  /** A command within this one that takes -c. */
  configured(name: string, description: string): CliCommand {
    return this.command(name)
      .description(description)
      .option(...LOCATION.config);
  }

  /** A command within this one that locates a running Pointsman. */
  remote(name: string, description: string): CliCommand {
    return this.configured(name, description).option(...LOCATION.admin);
  }

  /** A command within this one that goes to one running Pointsman, or to several. */
  remotes(name: string, description: string): CliCommand {
    return this.configured(name, description).option(...LOCATION.admins);
  }
}

/** For an option with a duration, in milliseconds. */
export function duration(text: string): number {
  const parsed = parseDuration(text);
  if (parsed.kind === 'invalid') throw new InvalidArgumentError(parsed.message);
  return parsed.ms;
}

/** For an option that may be repeated. */
export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
