// Actions on one page, by the mouse and the keyboard of the browser.
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { PageGuard } from './guard-page.ts';
import type { ToolAction, Area, Chord, Click, ScrollDirection, Point } from './tool-members.ts';
import { ScreenFault, type AgentScreen, type ScreenResult } from './agent-screen.ts';

/** The limit of one action, beside the time that it waits itself. */
const DEADLINE_MS = 30_000;
/** 100 pixels of the screenshot: the browser counts physical ones here. */
const NOTCH_PIXELS = 200;
/** Pages notice a drag by the moves between its ends. */
const DRAG_MOVES = 10;

type Of<Member extends ToolAction['member']> = Extract<ToolAction, { readonly member: Member }>;

export function createPageScreen(page: Page, size: AgentScreen['size'], guard: PageGuard): AgentScreen {
  const pointer = createPointer(page);
  const act = async (action: ToolAction): Promise<ScreenResult> => {
    const seen = await perform(page, pointer, action);
    const [heldBack] = await guard.heldBack();
    if (heldBack !== undefined) throw new ScreenFault(heldBack);
    return seen;
  };
  return { size, perform: (action) => withDeadline(act(action), DEADLINE_MS + waitOf(action)) };
}

interface Pointer {
  readonly at: () => Point;
  /** Undefined: it stays. */
  readonly go: (to: Point | undefined, moves?: number) => Promise<Point>;
}

function createPointer({ mouse }: Page): Pointer {
  let at: Point = { x: 0, y: 0 };
  return {
    at: () => at,
    async go(to, moves = 1) {
      if (to !== undefined) await mouse.move(to.x, to.y, { steps: moves });
      at = to ?? at;
      return at;
    },
  };
}

async function perform(page: Page, pointer: Pointer, action: ToolAction): Promise<ScreenResult> {
  switch (action.member) {
    case 'screenshot':
      return screenshot(page);
    case 'zoom':
      return screenshot(page, action.area);
    case 'cursor_position':
      return placeOf(pointer.at());
    case 'left_click':
    case 'right_click':
    case 'middle_click':
    case 'double_click':
    case 'triple_click':
      return click(page, pointer, action);
    case 'mouse_move':
      return `the pointer is at ${placeOf(await pointer.go(action.to))}`;
    case 'left_click_drag':
      return drag(page, pointer, action);
    case 'left_mouse_down':
    case 'left_mouse_up':
      return press(page, pointer, action);
    case 'scroll':
      return scroll(page, pointer, action);
    case 'type':
      await page.keyboard.type(action.text);
      // The text may be a secret.
      return `typed ${action.text.length} characters`;
    case 'key':
      for (const chord of action.chords) await during(page, chord, () => Promise.resolve());
      return `pressed ${action.chords.map((chord) => chord.join('+')).join(' ')}`;
    case 'hold_key':
      await during(page, action.chord, () => setTimeout(action.seconds * 1000));
      return `held ${action.chord.join('+')} for ${action.seconds} s`;
    case 'wait':
      await setTimeout(action.seconds * 1000);
      return `waited ${action.seconds} s`;
  }
}

/** An area has its original resolution, the whole screen that of the positions. */
async function screenshot(page: Page, clip?: Area): Promise<ScreenResult> {
  const png = await page.screenshot(
    clip === undefined ? { scale: 'css', caret: 'initial' } : { clip, scale: 'device', caret: 'initial' },
  );
  return [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } }];
}

const BUTTONS: Readonly<Record<Click, readonly ['left' | 'right' | 'middle', clicks: number]>> = {
  left_click: ['left', 1],
  right_click: ['right', 1],
  middle_click: ['middle', 1],
  double_click: ['left', 2],
  triple_click: ['left', 3],
};

async function click(page: Page, pointer: Pointer, { member, at, held }: Of<Click>): Promise<ScreenResult> {
  const place = await pointer.go(at);
  const [button, clickCount] = BUTTONS[member];
  await during(page, held, () => page.mouse.click(place.x, place.y, { button, clickCount }));
  return `${member} at ${placeOf(place)}`;
}

async function drag(page: Page, pointer: Pointer, { from, to }: Of<'left_click_drag'>): Promise<ScreenResult> {
  const start = await pointer.go(from);
  await page.mouse.down();
  try {
    await pointer.go(to, DRAG_MOVES);
  } finally {
    await page.mouse.up();
  }
  return `dragged from ${placeOf(start)} to ${placeOf(to)}`;
}

type Press = Of<'left_mouse_down' | 'left_mouse_up'>;

async function press(page: Page, pointer: Pointer, { member, at }: Press): Promise<ScreenResult> {
  const place = await pointer.go(at);
  await (member === 'left_mouse_down' ? page.mouse.down() : page.mouse.up());
  return `${member} at ${placeOf(place)}`;
}

const SCROLLED: Readonly<Record<ScrollDirection, readonly [x: number, y: number]>> = {
  up: [0, -NOTCH_PIXELS],
  down: [0, NOTCH_PIXELS],
  left: [-NOTCH_PIXELS, 0],
  right: [NOTCH_PIXELS, 0],
};

async function scroll(
  page: Page,
  pointer: Pointer,
  { at, direction, notches, held }: Of<'scroll'>,
): Promise<ScreenResult> {
  const place = await pointer.go(at);
  const [x, y] = SCROLLED[direction];
  await during(page, held, () => page.mouse.wheel(x * notches, y * notches));
  return `scrolled ${direction} by ${notches} at ${placeOf(place)}`;
}

/** The keys are up again afterwards, whatever happened. */
async function during(page: Page, chord: Chord, work: () => Promise<void>): Promise<void> {
  const down: string[] = [];
  try {
    for (const key of chord) {
      await page.keyboard.down(key);
      down.push(key);
    }
    await work();
  } finally {
    for (const key of down.toReversed()) await page.keyboard.up(key);
  }
}

function waitOf(action: ToolAction): number {
  return 'seconds' in action ? action.seconds * 1000 : 0;
}

async function withDeadline(work: Promise<ScreenResult>, ms: number): Promise<ScreenResult> {
  const end = new AbortController();
  const late = setTimeout(ms, undefined, { signal: end.signal }).then(
    () => {
      throw new ScreenFault(`the page did not react within ${ms / 1000} s`);
    },
    // The work was faster.
    () => work,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    end.abort();
  }
}

function placeOf({ x, y }: Point): string {
  return `X=${x},Y=${y}`;
}
