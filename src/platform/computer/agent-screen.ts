// The screen that actions happen on.
import type { ToolAction } from './tool-members.ts';

export type ScreenResult =
  | { readonly kind: 'text'; readonly text: string }
  /** A PNG in base64. */
  | { readonly kind: 'image'; readonly base64: string };

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
