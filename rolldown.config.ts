// How dist/ is made: each program and the libraries that a proxy loads as few files, which takes a third of the start's time and a good
// part of its memory away. Everything is beside everything in dist/, so that programs find each other and the manifest as in src/.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'rolldown';
import type { Plugin, RolldownOptions } from 'rolldown';
import { isolatedDeclarationSync } from 'rolldown/experimental';
import page from './rolldown.page.config.ts';

const ENTRANCE = 'src/index.ts';

const ASSERT = 'module.exports = (value, message) => { if (!value) throw new Error(message ?? "assertion failed"); };';

/** What a library requires and this program never asks of it, but would keep all the same. */
const LEFT_OUT = new Map([
  // Every connection is HTTP/1 by `allowH2`; Node's http2 brings its tls and crypto: 8 MB.
  ['./client-h2.js', 'module.exports = () => { throw new Error("HTTP/2 is left out of this build"); };'],
  // Exemplars of prom-client, which are off.
  ['@opentelemetry/api', 'module.exports = {};'],
  // Log lines that a thread writes (pino): thread-stream, and Node's worker_threads.
  ['./lib/transport', 'module.exports = undefined;'],
  ['./transport', 'module.exports = undefined;'],
  // The files that call pino, for such a thread. V8 counts the lines of each of them, which takes 2 ms.
  ['./lib/caller', 'module.exports = () => [];'],
  ['worker_threads', 'module.exports = { isMainThread: true };'],
  // The lag of the event loop is measured in src/telemetry/event-loop-lag.ts. A second histogram of Node takes 0.4 MB.
  ['./metrics/eventLoopLag', 'module.exports = () => {};'],
  // Called as a function alone. Node's own module takes 0.7 MB, most of it for the words of differences.
  ['assert', ASSERT],
  ['node:assert', ASSERT],
]);

/** Parts of undici that it requires when they are needed: parsers in WebAssembly (one of four), bodies of requests. They stay in its package. */
const LATE = /^\.\.\/(?:llhttp\/.*wasm|milo\/|web\/).*/;

const libraries: Plugin = {
  name: 'libraries',
  async resolveId(id, importer) {
    if (importer?.includes('/node_modules/') !== true) return null;
    if (LEFT_OUT.has(id)) return `\0left-out:${id}`;
    if (!importer.includes('/node_modules/undici/') || !LATE.test(id)) return null;
    const path = (await this.resolve(id, importer, { skipSelf: true }))?.id;
    if (path === undefined) throw new Error(`${id} of ${importer} is not there`);
    return { id: path.slice(path.lastIndexOf('/undici/') + 1), external: true };
  },
  load: (id) => LEFT_OUT.get(id.replace('\0left-out:', '')) ?? null,
};

/**
 * Of the file's schema, what takes long at each start and changes with the sources alone: the JSON Schema and its outline
 * are made here, and the notes that they are made from are left out.
 */
const made: Plugin = {
  name: 'made',
  async load(id) {
    for (const name of ['key', 'noted']) {
      if (id.endsWith(`/src/config/schema/${name}.ts`)) return `export const ${name} = (schema) => schema;`;
    }
    const documents = { 'file-json-schema': 'fileJsonSchema', 'file-outline': 'fileOutline' };
    for (const [file, name] of Object.entries(documents)) {
      if (!id.endsWith(`/src/config/schema/${file}.ts`)) continue;
      const made: Readonly<Record<string, unknown>> = await import(id);
      return `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(made[name]))});`;
    }
    return null;
  },
};

/** In a chunk: the name of the whole module, the names of its parts, and its id. */
const BUILTIN = /^import (?:([\w$]+)(?:, )?)?(\{.*\})? from ("node:[\w/]+");$/gm;
/** Any import of a module of Node that is there when a chunk is loaded. */
const IMPORTED = /^(?:import|export)\b(?!\()[^"';]*"node:.*/m;

/**
 * Takes Node's modules as `require` does. An import reads every property of the module, also those that load more of
 * Node when they are read: worker threads for util, the report and the standard streams for process. 3 MB, together.
 */
const builtins: Plugin = {
  name: 'builtins',
  renderChunk(source, { fileName }) {
    const code = source.replaceAll(BUILTIN, (_, whole, parts, id) => {
      const module = id === '"node:process"' ? 'globalThis.process' : `globalThis.process.getBuiltinModule(${id})`;
      const names = [whole, parts?.replaceAll(' as ', ': ')].filter((name) => name !== undefined);
      return `const ${names.map((name) => `${name} = ${module}`).join(', ')};`;
    });
    const [left] = IMPORTED.exec(code) ?? [];
    if (left !== undefined) throw new Error(`${fileName} has an import that this build cannot take: ${left}`);
    // Each import stays in its line.
    return { code, map: null };
  },
};

/** Of each module that programs load at their start: their names. A program's own file is not in it. */
const loadedAtStart = new Map<string, readonly string[]>();

/** Notes which modules each program loads at its start. */
const starts: Plugin = {
  name: 'starts',
  buildEnd() {
    const programs = [...this.getModuleIds()].filter((id) => this.getModuleInfo(id)?.isEntry === true);
    for (const program of programs) {
      const modules = new Set([program]);
      for (const id of modules) for (const imported of this.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
      const name = basename(program, '.ts').replace('-main', '');
      for (const id of modules) loadedAtStart.set(id, [...(loadedAtStart.get(id) ?? []), name]);
    }
    for (const program of programs) loadedAtStart.delete(program);
  },
};

/**
 * Modules that the same programs load at their start are one file. Otherwise a proxy loads 85 files, because parts that
 * are loaded later share one with it or the other: enough for V8 to optimize the code that resolves their paths, and
 * the pages of its optimizing compiler take 5 MB. A file takes 1.5 ms of the start, so those few kilobytes of what a
 * proxy shares with the health check are not divided further for others, which load them in vain.
 */
function fileOf(id: string): string | null {
  const programs = loadedAtStart.get(id);
  if (programs === undefined) return null;
  const isShared = programs.includes('command-line') && programs.includes('healthcheck');
  const names = isShared ? programs.filter((name) => name !== 'index' && name !== 'guard') : programs;
  return `start-${names.toSorted().join('-')}`;
}

/** The types of the package's entrance, which names none of another file. */
const types: Plugin = {
  name: 'types',
  generateBundle() {
    const { code, errors } = isolatedDeclarationSync(
      ENTRANCE,
      readFileSync(join(import.meta.dirname, ENTRANCE), 'utf8'),
    );
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
    this.emitFile({ type: 'asset', fileName: 'index.d.ts', source: code });
  },
};

/** The status page beside the programs, wherever they are written to. */
function statusPage(): Plugin {
  let cwd: string;
  return {
    name: 'status-page',
    buildStart(options) {
      ({ cwd } = options);
    },
    async generateBundle() {
      const { output } = await build({ ...page, cwd, write: false });
      for (const file of output) {
        const source = file.type === 'chunk' ? file.code : file.source;
        this.emitFile({ type: 'asset', fileName: `page/${file.fileName}`, source });
      }
    },
  };
}

export default {
  input: {
    main: 'src/main.ts',
    'command-line': 'src/app/command-line.ts',
    index: ENTRANCE,
    'worker-main': 'src/worker-main.ts',
    'healthcheck-main': 'src/healthcheck-main.ts',
    'guard-main': 'src/sandbox/postgres/guard-main.ts',
  },
  platform: 'node',
  // As the groups of modules need it.
  preserveEntrySignatures: 'allow-extension',
  // Optional, or too much of what nobody but the sandbox needs.
  external: ['pg', 'cli-table3', 'diff', 'eventsource-parser', 'playwright-core'],
  plugins: [libraries, made, builtins, starts, types, statusPage()],
  output: {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: '[name].js',
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: fileOf, debugName: 'start' }] },
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: true,
    cleanDir: true,
  },
} satisfies RolldownOptions;
