// How a process of Node is started in which the program lacks a load-bearing line.
import process from 'node:process';

const PRELOAD = new URL('preload.ts', import.meta.url).href;

export function withoutLine(name: string) {
  return { execArgv: ['--import', PRELOAD], env: { ...process.env, POINTSMAN_WITHOUT: name } };
}
