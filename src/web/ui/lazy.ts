// A part of a page that is loaded when it is first shown, so that the page stays small.

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Undefined until loaded. A failure means that the server was updated, so the page is, too. */
export function useLazy<Props>(
  isWanted: boolean,
  load: () => Promise<{ readonly View: ComponentType<Props> }>,
): ComponentType<Props> | undefined {
  const [View, setView] = useState<ComponentType<Props> | undefined>(undefined);
  useEffect(() => {
    if (!isWanted || View !== undefined) return;
    load().then(
      (loaded) => setView(() => loaded.View),
      () => window.location.reload(),
    );
  }, [isWanted]);
  return View;
}
