// The place in the address, as a hook.
import { useEffect, useState } from 'preact/hooks';
import { placeOf } from './place.ts';
import type { IncidentPlace } from './place.ts';

export function usePlace(): IncidentPlace | undefined {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const onChange = (): void => setFragment(location.hash);
    addEventListener('hashchange', onChange);
    // It may have changed since the first drawing.
    onChange();
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return placeOf(fragment);
}
