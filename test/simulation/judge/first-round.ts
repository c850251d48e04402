// Nothing is routed before each member of the first document has been asked (G13).
import type { Scene } from '../scene/scene.ts';
import type { Law } from './law.ts';

export const FIRST_ROUND: Law = {
  guarantee: 'G13',
  broken: (scene) => scene.pointsmen.flatMap((_, run) => tooEarly(scene, run)),
};

function tooEarly({ observer }: Scene, run: number): readonly string[] {
  const opening = observer.openings.find((one) => one.run === run);
  if (opening === undefined) return [];
  const before = observer.answers.filter((one) => one.run === run && one.at <= opening.at);
  const document = before.find(({ path, result }) => path === '/cluster' && result.kind === 'answered');
  const text = document?.result.kind === 'answered' ? document.result.body : '';
  // A member may have left the address that the document has for it.
  const unasked = [...text.matchAll(/"api_url":"http:\/\/([^:"]+)/g)].flatMap(([, host]) => {
    const isAsked = before.some((one) => one.host === host && /^\/(?:primary|replica)/.test(one.path));
    return isAsked ? [] : [host];
  });
  return unasked.map((host) => `pointsman ${run} opens ${opening.session}, and ${host} was not asked before`);
}
