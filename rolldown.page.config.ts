// How dist/page is made: the status page as one script, one style sheet and one document, each with a gzip copy. Their
// names have a hash of their content, so browsers keep them, and a name serves as the ETag.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin, RolldownOptions } from 'rolldown';

const ROOM = 'src/page';
const DOCUMENT = 'index.html';
/** Begins the style sheet; the others follow by name. */
const FIRST = 'page.css';

/** Adds the style sheet and the document, which names both files, and the gzip copies. */
function documentAndStyles(): Plugin {
  let room = ROOM;
  return {
    name: 'document-and-styles',
    buildStart({ cwd }) {
      room = join(cwd, ROOM);
    },
    generateBundle(_, bundle) {
      const others = globSync('**/*.css', { cwd: room }).filter((file) => file !== FIRST);
      const css = [FIRST, ...others.toSorted()].map((file) => readFileSync(join(room, file), 'utf8')).join('\n');
      const styles = this.getFileName(this.emitFile({ type: 'asset', name: 'page.css', source: css }));
      const script = Object.values(bundle).find((one) => one.type === 'chunk' && one.isEntry);
      if (script?.type !== 'chunk') throw new Error('the page has no script');
      const html = readFileSync(join(room, DOCUMENT), 'utf8')
        .replace('"main.tsx"', `"page/${script.fileName}"`)
        .replace(`"${FIRST}"`, `"page/${styles}"`);
      const document = this.getFileName(this.emitFile({ type: 'asset', name: DOCUMENT, source: html }));
      const made = { [script.fileName]: script.code, [styles]: css, [document]: html };
      for (const [fileName, text] of Object.entries(made)) {
        this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gzipSync(text, { level: 9 }) });
      }
    },
  };
}

export default {
  input: { page: `${ROOM}/main.tsx` },
  tsconfig: `${ROOM}/tsconfig.json`,
  platform: 'browser',
  plugins: [documentAndStyles()],
  output: {
    dir: 'dist/page',
    format: 'esm',
    minify: true,
    codeSplitting: false,
    entryFileNames: '[name]-[hash].js',
    assetFileNames: '[name]-[hash][extname]',
    comments: { legal: true, annotation: false, jsdoc: false },
    cleanDir: true,
  },
} satisfies RolldownOptions;
