// Shows a value once: a key, a code or a link. A lost value must be replaced by a new one, so the
// dialog asks before it closes without its button.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Alert } from './parts.tsx';
import { CodeBlock } from './tabs.tsx';

export function ShownOnceDialog({
  title,
  label,
  lines,
  use,
  children,
  onClose,
}: {
  readonly title: string;
  /** The name of the copied value: `"the key"`. */
  readonly label: string;
  readonly lines: readonly string[];
  /** How to use the value, below it. */
  readonly use?: ComponentChildren;
  /** The owner of the value, and what to do with it. */
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}) {
  const [asked, setAsked] = useState(false);
  return (
    <Dialog title={title} wide onClose={() => (asked ? onClose() : setAsked(true))}>
      <Alert tone="warning" title={t('Copy it now. It is shown only once.')}>
        {children}
      </Alert>
      <CodeBlock code={lines.join('\n')} label={label} />
      {use}
      {asked && (
        <div role="alert">
          <Alert tone="warning" title={t('Close without copying it?')}>
            {t("You can't see it again after closing.")}
          </Alert>
        </div>
      )}
      <div class="actions">
        <Button kind={asked ? 'danger' : 'primary'} onClick={onClose}>
          {asked ? t('Close anyway') : t('Done, I’ve copied it')}
        </Button>
      </div>
    </Dialog>
  );
}
