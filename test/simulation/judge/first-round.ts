// Nothing is routed before each member of the first document has been asked (G13).
import type { Scene } from '../scene/scene.ts';
import type { Law } from './law.ts';

export const FIRST_ROUND: Law = {
  guarantee: 'G13',
  broken: (scene) => scene.pointsmen.flatMap((_, run) => tooEarly(scene, run)),
};

function tooEarly({ observer, cluster }: Scene, run: number): readonly string[] {
  const opening = observer.openings.find((one) => one.run === run);
  if (opening === undefined) return [];
  const before = observer.answers.filter((one) => one.run === run && one.at <= opening.at);
  const document = before.find(({ path, result }) => path === '/cluster' && result.kind === 'answered');
  const text = document?.result.kind === 'answered' ? document.result.body : '';
  const unasked = cluster.members.filter(({ name }) => {
    const isListed = text.includes(`"${name}"`);
    return isListed && !before.some((one) => one.member === name && /^\/(?:primary|replica)/.test(one.path));
  });
  return unasked.map(({ name }) => `pointsman ${run} opens ${opening.session}, and ${name} was not asked before`);
}
