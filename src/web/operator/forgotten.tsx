// Warns of a switch for something that the catalog no longer has, and removes it.

import { t } from '../text/t.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { Alert } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';

export function ForgottenAlert({
  text,
  act,
  reload,
}: {
  readonly text: string;
  readonly act: () => Promise<unknown>;
  readonly reload: () => Promise<void>;
}) {
  return (
    <Alert
      tone="warning"
      actions={
        <ActionButton
          size="small"
          needs="service.manage"
          act={async () => {
            await act();
            toast(t('Entry removed.'));
            await reload();
          }}
        >
          {t('Remove entry')}
        </ActionButton>
      }
    >
      {text}
    </Alert>
  );
}
