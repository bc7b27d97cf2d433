// Recovery codes, which are shown once: to be copied, or kept as a file.

import { Button, CopyButton } from '../button.tsx';
import { Alert } from '../parts.tsx';

export function RecoveryCodes({
  codes,
  onDone,
}: {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}) {
  const text = `${codes.join('\n')}\n`;
  return (
    <>
      <Alert tone="warning" title="They are shown this once">
        Each of them works once in place of a code from your app. Keep them where you keep
        passwords, and not on the phone with the app.
      </Alert>
      <ul class="plain recovery-codes" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div class="row apart">
        <div class="row">
          <CopyButton text={text} label="Copy the recovery codes" />
          <Button size="small" onClick={() => save(text)}>
            Download
          </Button>
        </div>
        <Button kind="primary" onClick={onDone}>
          I have kept them
        </Button>
      </div>
    </>
  );
}

/** As a file that never leaves the browser on its way. */
function save(text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = 'tollgate-recovery-codes.txt';
  link.click();
  URL.revokeObjectURL(link.href);
}
