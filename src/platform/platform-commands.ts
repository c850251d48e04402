// The commands of this room: skills, agents and a page for agents, and what happens to incidents on a platform.
import type { DescribeCommands } from '../cli/parts.ts';
import { describeAgent } from './agent/agent-commands.ts';
import { describeComputer } from './computer/computer-commands.ts';
import { describeUploads } from './incident/upload-commands.ts';
import type { PlatformParts } from './platform-context.ts';
import { describeSkill } from './skill/skill-commands.ts';

export function platformCommands(parts: PlatformParts): DescribeCommands {
  return (program, io) => {
    const incidents = program.commands.find((command) => command.name() === 'incidents');
    if (incidents !== undefined) describeUploads(incidents, io, parts);
    describeSkill(program, io, parts);
    describeAgent(program, io, parts);
    describeComputer(program, io);
  };
}
