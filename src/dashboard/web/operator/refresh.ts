// Reads a page's record again now and then while somebody looks at it, for pages without a feed.

import { useEffect } from 'preact/hooks';

const EVERY_MS = 5_000;

/** Not while the page is hidden. */
export function useRefresh(reload: () => Promise<void>, everyMs = EVERY_MS): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
}
