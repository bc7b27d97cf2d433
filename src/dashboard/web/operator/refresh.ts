// Reloads a page's record at intervals while the page is visible, for pages without a feed.

import { useEffect } from 'preact/hooks';

const EVERY_MS = 5_000;

/** Paused while the page is hidden. */
export function useRefresh(reload: () => Promise<void>, everyMs = EVERY_MS): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
}
