// What is shown once and never again: a key, or codes. Whoever closes this has copied it, or makes
// another one.

import type { ComponentChildren } from 'preact';
import { Alert, CodeBlock, Dialog, DialogClose } from '../ui/index.ts';

export function ShownOnceDialog({
  title,
  label,
  lines,
  children,
  onClose,
}: {
  readonly title: string;
  /** What is copied: `"the key"`. */
  readonly label: string;
  readonly lines: readonly string[];
  /** Whose it is and what to do with it. */
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} wide onClose={onClose}>
      <Alert tone="warning" title="Copy it now: it cannot be shown again.">
        {children}
      </Alert>
      <CodeBlock code={lines.join('\n')} label={label} />
      <DialogClose onClose={onClose} label="I have copied it" />
    </Dialog>
  );
}
