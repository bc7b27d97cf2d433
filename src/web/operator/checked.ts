// Checks a draft on the server before it is published: each version, one check at a time.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Action, useAction } from '../ui/resource.ts';

/**
 * Each version of a draft is another object. A version that is edited during a check is checked
 * afterwards; one whose check failed is not checked again until `action` runs.
 */
export function useChecked<Draft extends object, Check>(
  draft: Draft,
  send: (draft: Draft) => Promise<Check>,
  { isOn = true, afterMs = 0 }: { readonly isOn?: boolean; readonly afterMs?: number } = {},
): {
  /** Of this version; undefined until it has arrived. */
  readonly check: Check | undefined;
  /** Of any version. */
  readonly last: Check | undefined;
  readonly action: Action<[]>;
} {
  const [checked, setChecked] = useState<{ readonly of: Draft; readonly check: Check } | undefined>(
    undefined,
  );
  const sent = useRef<Draft | undefined>(undefined);
  const action = useAction(async () => {
    sent.current = draft;
    setChecked({ of: draft, check: await send(draft) });
  });
  const isBusy = action.busy.value;
  useEffect(() => {
    if (!isOn || isBusy || sent.current === draft) return;
    const timer = setTimeout(() => void action.run(), afterMs);
    return () => clearTimeout(timer);
  }, [draft, isOn, isBusy]);
  return {
    check: checked?.of === draft ? checked.check : undefined,
    last: checked?.check,
    action,
  };
}
