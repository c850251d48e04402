// The screen that actions happen on.
import type { ToolAction } from './tool-members.ts';

interface ImageBlock {
  readonly type: 'image';
  readonly source: { readonly type: 'base64'; readonly media_type: 'image/png'; readonly data: string };
}

/** A text; of screenshot and zoom an image. */
export type ScreenResult = string | readonly ImageBlock[];

export interface AgentScreen {
  /** The size of a screenshot, in pixels. */
  readonly size: { readonly width: number; readonly height: number };
  /** Rejects with a ScreenFault, or with an error of the browser. */
  readonly perform: (action: ToolAction) => Promise<ScreenResult>;
}

/** Why an action did not happen, in a sentence for the agent. */
export class ScreenFault extends Error {
  override readonly name = 'ScreenFault';
}
