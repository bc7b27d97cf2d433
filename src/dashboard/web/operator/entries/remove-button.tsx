// The button that removes one of several parts of an entry.

import { t } from '../../text/t.ts';
import { Button } from '../../ui/index.ts';

/** `label` names the part. */
export function RemoveButton({
  label,
  onClick,
}: {
  readonly label: string;
  readonly onClick: () => void;
}) {
  return (
    <Button kind="quiet-danger" size="small" aria-label={label} onClick={onClick}>
      {t('Remove')}
    </Button>
  );
}
