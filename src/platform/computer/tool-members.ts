// The members of the computer toolset. Source: the platform API, "Computer toolset tool".

export const CLICKS = ['left_click', 'right_click', 'middle_click', 'double_click', 'triple_click'] as const;

export const MEMBERS = [
  'screenshot',
  'zoom',
  ...CLICKS,
  'mouse_move',
  'left_click_drag',
  'left_mouse_down',
  'left_mouse_up',
  'cursor_position',
  'scroll',
  'type',
  'key',
  'hold_key',
  'wait',
] as const;

export type ToolMember = (typeof MEMBERS)[number];
export type Click = (typeof CLICKS)[number];

export const DIRECTIONS = ['up', 'down', 'left', 'right'] as const;
export type ScrollDirection = (typeof DIRECTIONS)[number];

/** Pixels of the screenshot, from its top left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Area extends Point {
  readonly width: number;
  readonly height: number;
}

/** Keys that are down together, by their names in the browser: `Control`, `a`. */
export type Chord = readonly string[];

/** One block, with its input checked. Without `at` an action happens where the pointer is. */
export type ToolAction =
  | { readonly member: 'screenshot' | 'cursor_position' }
  | { readonly member: 'zoom'; readonly area: Area }
  | { readonly member: Click; readonly at: Point | undefined; readonly held: Chord }
  | { readonly member: 'left_mouse_down' | 'left_mouse_up'; readonly at: Point | undefined }
  | { readonly member: 'mouse_move'; readonly to: Point }
  | { readonly member: 'left_click_drag'; readonly from: Point | undefined; readonly to: Point }
  | {
      readonly member: 'scroll';
      readonly at: Point | undefined;
      readonly direction: ScrollDirection;
      /** Notches of a mouse wheel. */
      readonly notches: number;
      readonly held: Chord;
    }
  | { readonly member: 'type'; readonly text: string }
  | { readonly member: 'key'; readonly chords: readonly Chord[] }
  | { readonly member: 'hold_key'; readonly chord: Chord; readonly seconds: number }
  | { readonly member: 'wait'; readonly seconds: number };
