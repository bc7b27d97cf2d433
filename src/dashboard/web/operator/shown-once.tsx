// Shows a value once: a key, a code or a link. A lost value must be replaced by a new one.

import type { ComponentChildren } from 'preact';
import { t } from '../text/t.ts';
import { Dialog, DialogClose } from '../ui/dialog.tsx';
import { Alert } from '../ui/parts.tsx';
import { CodeBlock } from '../ui/tabs.tsx';

export function ShownOnceDialog({
  title,
  label,
  lines,
  children,
  onClose,
}: {
  readonly title: string;
  /** The name of the copied value: `"the key"`. */
  readonly label: string;
  readonly lines: readonly string[];
  /** The owner of the value, and what to do with it. */
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} wide onClose={onClose}>
      <Alert tone="warning" title={t('Copy it now. It is shown only once.')}>
        {children}
      </Alert>
      <CodeBlock code={lines.join('\n')} label={label} />
      <DialogClose onClose={onClose} label={t('Done, I’ve copied it')} />
    </Dialog>
  );
}
