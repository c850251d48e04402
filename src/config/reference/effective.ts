// The configuration in effect as a file: what was written and what the environment overrides, with every default, and
// the origin of each value as a comment.
import type { Config } from '../config.ts';
import { formatOrigin } from '../fault.ts';
import { commentedYaml } from './commented-yaml.ts';
import { configDocument, type SettingOrigin } from './settings.ts';

const COLUMN = 40;

/** YAML that loads. No secret is in it. `onlyChanged`: without the values that equal their default. */
export function effectiveYaml(config: Config, onlyChanged = false): string {
  const { settings, configuration } = configDocument(config, onlyChanged);
  const secrets = settings.filter(({ redacted }) => redacted === true);
  const notes = secrets.map(({ key, origin }) => `# ${key} is set and not shown (${originText(origin)})\n`);
  const beside = new Map(settings.map(({ key, origin }) => [key, originText(origin)]));
  return notes.join('') + commentedYaml(configuration, { beside, column: COLUMN });
}

/** `default`, `pointsman.yaml:3:13`, `environment POINTSMAN_ZONE`, `derived from client.max_sessions` */
export function originText(origin: SettingOrigin): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'derived':
      return `derived from ${origin.from}`;
    case 'command_line':
      return `command line ${origin.option}`;
    case 'file':
    case 'environment':
      return formatOrigin(origin);
  }
}
