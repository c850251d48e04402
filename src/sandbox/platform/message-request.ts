// A request for a message, as far as its parts matter to files, skills and the computer tool.
import { z } from 'zod';

const block = z.looseObject({ type: z.string() });
export const content = z.union([z.string(), z.array(block)]);
const message = z.looseObject({ role: z.enum(['user', 'assistant']), content });
const tool = z.looseObject({ type: z.string().optional(), name: z.string().optional() });
export const request = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  messages: z.array(message).min(1),
  tools: z.array(tool).optional(),
  container: z
    .looseObject({ skills: z.array(z.object({ skill_id: z.string(), version: z.string() })).optional() })
    .optional(),
});

export type MessageBody = z.infer<typeof request>;
export type Block = z.infer<typeof block>;
