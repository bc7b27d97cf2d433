// Shows new recovery codes once, to copy or to download.

import { t } from '../text/t.ts';
import { Button } from '../ui/button.tsx';
import { downloadText } from '../ui/download.ts';
import { ShownOnceDialog } from '../ui/shown-once.tsx';

const FILE = 'tollgate-recovery-codes.txt';

export function RecoveryCodes({
  title,
  codes,
  onClose,
}: {
  readonly title: string;
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  return (
    <ShownOnceDialog
      title={title}
      label={t('the recovery codes')}
      lines={codes}
      use={
        <div>
          <Button size="small" onClick={() => downloadText(FILE, `${codes.join('\n')}\n`)}>
            {t('Download')}
          </Button>
        </div>
      }
      onClose={onClose}
    >
      {t(
        'Each code works once instead of a code from your app. Store them in a password manager, not only on the phone with the app. Earlier codes no longer work.',
      )}
    </ShownOnceDialog>
  );
}
