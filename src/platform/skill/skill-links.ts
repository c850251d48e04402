// Links between the pages of a skill. A model opens the files that SKILL.md names, and nothing outside of the folder is
// published with it.
import { dirname, normalize } from 'node:path/posix';
import { shown } from '../../model/printable.ts';

export function linkProblems(files: readonly { path: string; content: Uint8Array }[]): readonly string[] {
  const known = new Set(files.map(({ path }) => path));
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, content }) =>
      linksIn(new TextDecoder().decode(content)).flatMap((link) => {
        const target = normalize(`${dirname(path)}/${link}`);
        if (target.startsWith('../') || link.startsWith('/')) {
          return [`${shown(path)}: the link ${shown(link)} leaves the folder of the skill`];
        }
        const isThere = known.has(target) || [...known].some((one) => one.startsWith(`${target.replace(/\/$/, '')}/`));
        return isThere ? [] : [`${shown(path)}: the link ${shown(link)} leads to no file of the skill`];
      }),
    );
}

/** Relative targets, without anchors. Code is no link. */
function linksIn(text: string): readonly string[] {
  const prose = text.replaceAll(/^( *)```.*?^\1```/gms, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g)].flatMap(([, target = '']) => {
    const [file = ''] = target.split('#');
    return file === '' || /^[a-z][a-z0-9+.-]*:/i.test(file) ? [] : [decoded(file)];
  });
}

function decoded(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}
