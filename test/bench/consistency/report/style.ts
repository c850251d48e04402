// The looks of the report.
export const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2330, #e4e7ee); --soft: light-dark(#5a6475, #9aa4b5);
  --line: light-dark(#d5dae3, #3a4250); --paper: light-dark(#fff, #14181f); --good: light-dark(#1a7f4b, #52c48a);
  --bad: light-dark(#b3261e, #ff8a80); }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1100px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
.verdict { font-size: 1.25rem; font-weight: 600; padding: .6rem .9rem; border-left: 6px solid; }
.held { color: var(--good); } .broken { color: var(--bad); }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: .6rem 0; font-size: 14px; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 500; } dt { font-weight: 600; margin-top: .6rem; } dd { margin: 0 0 0 1rem; }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); }
.legend { color: var(--soft); font-size: 14px; }
svg { width: 100%; height: auto; margin-top: .8rem; font-size: 12px; } svg text { fill: var(--ink); }
svg .axis { fill: var(--soft); } svg .on-bar { fill: #fff; text-anchor: middle; font-size: 11px; }
.base { stroke: var(--line); } .tick { stroke-width: 1.5; }
i { display: inline-block; width: .8em; height: .8em; margin: 0 .4em; border-radius: 2px; }
.operation { fill: #3d6fb4; background: #3d6fb4; } .kill { fill: #a3352c; background: #a3352c; }
.freeze { fill: #2b7f8c; background: #2b7f8c; } .cut { fill: #8a5a00; background: #8a5a00; }
.store { fill: #6b4aa0; background: #6b4aa0; } .other { fill: #5a6475; background: #5a6475; }
.primary { fill: #2f7d55; background: #2f7d55; } .rate { fill: #7fb79a; }
.direct { stroke: #c77700; background: #c77700; } .late { stroke: #c2185b; background: #c2185b; }
.unknown { stroke: #c77700; } .refused { stroke: #8a94a6; } .lost { stroke: #b3261e; }
`;
