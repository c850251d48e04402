// Runs before a simulation: takes the line of this name (POINTSMAN_WITHOUT) out of the program while it is loaded.
import { registerHooks } from 'node:module';
import process from 'node:process';
import { LOAD_BEARING_LINES } from './lines.ts';

const wanted = process.env['POINTSMAN_WITHOUT'];
const found = LOAD_BEARING_LINES.find(({ name }) => name === wanted);
if (found === undefined) throw new Error(`no line is called ${wanted}`);
const { file, line, without } = found;
const url = new URL(`../../../src/${file}`, import.meta.url).href;

registerHooks({
  load(asked, context, nextLoad) {
    const loaded = nextLoad(asked, context);
    if (asked !== url || loaded.source === undefined) return loaded;
    const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
    if (text.split(line).length !== 2) throw new Error(`${file} has not exactly one "${line}"`);
    return { ...loaded, source: text.replace(line, () => without) };
  },
});
