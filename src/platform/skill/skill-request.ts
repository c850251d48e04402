// `pointsman skill request`: a message request with a skill. Nothing is sent.
import { skillsFragment, printRequest } from '../fragments.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { platformConfig, type PlatformOptions } from '../platform-context.ts';
import type { MessageOptions } from '../message-options.ts';
import type { RecordOptions } from './skill-record.ts';
import { skillReference } from './skill-id.ts';

export interface SkillRequestOptions extends Pick<PlatformOptions, 'config'>, RecordOptions, MessageOptions {}

const QUESTION = 'Use the skill. Say first which facts you need.';

export async function requestWithSkill(wanted: string, options: SkillRequestOptions, io: CliIo): Promise<number> {
  const { policy } = platformConfig(options, io);
  const reference = await skillReference(wanted, options, policy.url, io);
  printRequest(io, options, QUESTION, policy.betaHeader, [skillsFragment([reference])]);
  return EXIT.ok;
}
