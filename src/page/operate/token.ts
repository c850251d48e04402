// The admin token, in memory alone: a reload of the page forgets it, and the view of an incident does not.
import { useState } from 'preact/hooks';

export interface TokenKeeper {
  readonly token: string | undefined;
  readonly keep: (token: string | undefined) => void;
}

let kept: string | undefined;

export function useToken(): TokenKeeper {
  const [token, setToken] = useState(kept);
  return {
    token,
    keep(next) {
      kept = next;
      setToken(next);
    },
  };
}
