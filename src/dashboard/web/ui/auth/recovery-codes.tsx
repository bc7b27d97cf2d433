// Shows new recovery codes once, to copy or to download.

import { t } from '../../text/t.ts';
import { Button, CopyButton } from '../button.tsx';
import { downloadText } from '../download.ts';
import { Alert } from '../parts.tsx';

const FILE = 'tollgate-recovery-codes.txt';

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
      <Alert tone="warning" title={t('Recovery codes (shown once)')}>
        {t(
          'Each code works once instead of a code from your app. Store them in a password manager, not only on the phone with the app.',
        )}
      </Alert>
      <ul class="plain recovery-codes" aria-label={t('Recovery codes')}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div class="row apart">
        <div class="row">
          <CopyButton text={text} label={t('Copy the recovery codes')} />
          <Button size="small" onClick={() => downloadText(FILE, text)}>
            {t('Download')}
          </Button>
        </div>
        <Button kind="primary" onClick={onDone}>
          {t('Done, I’ve saved them')}
        </Button>
      </div>
    </>
  );
}
