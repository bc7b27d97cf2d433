// Reloads a page's record at intervals while the page is visible, for pages without a feed.

import { useEffect } from 'preact/hooks';

const EVERY_MS = 5_000;

/** Paused while the page is hidden. Waits for a read that takes longer than the interval. */
export function useRefresh(resource: { readonly refresh: () => void }, everyMs = EVERY_MS): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') resource.refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [resource, everyMs]);
}
