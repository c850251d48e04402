// The input of one tool_use block, checked. The platform API has the members and the limit of 300 s. It shows no input,
// so the names here (coordinate, text, duration …) are those that agents are used to.
import { shown } from '../../model/printable.ts';
import { chordOf, chordsOf } from './chords.ts';
import { CLICKS, DIRECTIONS, MEMBERS } from './tool-members.ts';
import type { ToolAction, Area, Chord, Click, ScrollDirection, ToolMember, Point } from './tool-members.ts';
import { ScreenFault, type AgentScreen } from './agent-screen.ts';

const MOST_SECONDS = 300;
const MOST_NOTCHES = 100;
const MOST_CHARACTERS = 10_000;

const SIZE_FIELD = /^(?:display_)?(?:width|height)(?:_px)?$/;

type Size = AgentScreen['size'];
type Input = Readonly<Record<string, unknown>>;

/** Throws a ScreenFault in words for the agent. */
export function readAction(name: string, input: Input, size: Size): ToolAction {
  const member = MEMBERS.find((one) => one === name);
  if (member === undefined)
    throw new ScreenFault(`there is no member ${JSON.stringify(shown(name))}: use ${MEMBERS.join(', ')}`);
  const sized = Object.keys(input).find((key) => SIZE_FIELD.test(key));
  if (sized !== undefined) throw new ScreenFault(`${sized} is not accepted: positions are pixels of the screenshot`);
  return actionOf(member, input, size);
}

function actionOf(member: ToolMember, input: Input, size: Size): ToolAction {
  if (isClick(member)) return { member, at: optional(input, 'coordinate', size), held: held(input) };
  switch (member) {
    case 'screenshot':
    case 'cursor_position':
      return { member };
    case 'zoom':
      return { member, area: area(input['region'], size) };
    case 'mouse_move':
      return { member, to: point(input['coordinate'], 'coordinate', size) };
    case 'left_click_drag': {
      const from = optional(input, 'start_coordinate', size);
      return { member, from, to: point(input['coordinate'], 'coordinate', size) };
    }
    case 'left_mouse_down':
    case 'left_mouse_up':
      return { member, at: optional(input, 'coordinate', size) };
    case 'scroll':
      return {
        member,
        at: optional(input, 'coordinate', size),
        direction: direction(input['scroll_direction']),
        notches: within(input, 'scroll_amount', MOST_NOTCHES),
        held: held(input),
      };
    case 'type':
      return { member, text: text(input) };
    case 'key':
      return { member, chords: chordsOf(text(input)) };
    case 'hold_key':
      return { member, chord: chordOf(text(input)), seconds: within(input, 'duration', MOST_SECONDS) };
    case 'wait':
      return { member, seconds: within(input, 'duration', MOST_SECONDS) };
  }
}

function isClick(member: ToolMember): member is Click {
  return CLICKS.some((click) => click === member);
}

function optional(input: Input, key: string, size: Size): Point | undefined {
  return input[key] === undefined ? undefined : point(input[key], key, size);
}

function point(value: unknown, key: string, { width, height }: Size): Point {
  const [x, y] = numbers(value, 2) ?? [];
  if (x === undefined || y === undefined) throw new ScreenFault(`${key} is two numbers of pixels, [x, y]`);
  if (x < 0 || y < 0 || x >= width || y >= height)
    throw new ScreenFault(`${key} [${x}, ${y}] is outside of the screen: x is below ${width}, y below ${height}`);
  return { x, y };
}

/** From [left, top, right, bottom]. */
function area(value: unknown, { width, height }: Size): Area {
  const [x0, y0, x1, y1] = numbers(value, 4) ?? [];
  if (x0 === undefined || y0 === undefined || x1 === undefined || y1 === undefined)
    throw new ScreenFault('region is four numbers of pixels, [left, top, right, bottom]');
  if (x0 < 0 || y0 < 0 || x1 > width || y1 > height || x1 - x0 < 1 || y1 - y0 < 1)
    throw new ScreenFault(`region [${x0}, ${y0}, ${x1}, ${y1}] is no area within the screen of ${width} x ${height}`);
  return { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
}

function numbers(value: unknown, count: number): readonly number[] | undefined {
  const isRight = Array.isArray(value) && value.length === count && value.every((one) => Number.isFinite(one));
  return isRight ? value : undefined;
}

function within(input: Input, key: string, most: number): number {
  const value = input[key];
  if (typeof value !== 'number' || !(value >= 0 && value <= most))
    throw new ScreenFault(`${key} is a number from 0 to ${most}`);
  return value;
}

function direction(value: unknown): ScrollDirection {
  const found = DIRECTIONS.find((one) => one === value);
  if (found === undefined) throw new ScreenFault(`scroll_direction is ${DIRECTIONS.join(', ')}`);
  return found;
}

function text({ text }: Input): string {
  if (typeof text !== 'string' || text === '') throw new ScreenFault('text is missing');
  if (text.length > MOST_CHARACTERS) throw new ScreenFault(`text is longer than ${MOST_CHARACTERS} characters`);
  return text;
}

/** Keys that are down during a click or a scroll. */
function held(input: Input): Chord {
  return input['text'] === undefined || input['text'] === '' ? [] : chordOf(text(input));
}
