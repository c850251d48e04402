// `pointsman skill request`: a message request with a skill. Nothing is sent.
import { messageRequest, skillsFragment } from '../fragments.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { platformConfig, type PlatformOptions } from '../platform-context.ts';
import type { MessageOptions } from '../message-options.ts';
import type { RecordOptions } from './skill-record.ts';
import { skillReference } from './skill-id.ts';

export interface SkillRequestOptions extends Pick<PlatformOptions, 'config'>, RecordOptions, MessageOptions {}

const QUESTION = 'Use the skill. Say first which facts you need.';

export async function requestWithSkill(wanted: string, options: SkillRequestOptions, io: CliIo): Promise<number> {
  const config = platformConfig(options, io);
  const { policy } = config;
  const reference = await skillReference(wanted, options, policy.url, io);
  const { model, maxTokens, question = QUESTION } = options;
  const fragments = [skillsFragment([reference])];
  const request = messageRequest(policy.betaHeader, { model, maxTokens, text: question, fragments });
  io.stdout(`${JSON.stringify(request, null, 2)}\n`);
  return EXIT.ok;
}
