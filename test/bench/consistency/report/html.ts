// The little HTML that the report needs.
export function escape(text: string | number): string {
  return String(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export type Cell = string | number | { readonly html: string };

export function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = (row: readonly Cell[], tag: string) =>
    row.map((cell) => `<${tag}>${typeof cell === 'object' ? cell.html : escape(cell)}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
  return `<div class="wide"><table><thead><tr>${cells(head, 'th')}</tr></thead>\n<tbody>${body}</tbody></table></div>`;
}

export function verdict(faults: number): Cell {
  return { html: faults === 0 ? '<b class="held">held</b>' : '<b class="broken">broken</b>' };
}

/** 61,234 as `1:01`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
