// Names that were chosen, in their order, each with a button that removes it.

import { t } from '../text/t.ts';
import { Button } from './button.tsx';

export function ChosenNames({
  names,
  textOf = (name) => name,
  onRemove,
}: {
  readonly names: readonly string[];
  readonly textOf?: (name: string) => string;
  /** Absent: they cannot be changed. */
  readonly onRemove?: ((at: number) => void) | undefined;
}) {
  if (names.length === 0) return null;
  return (
    <ol class="plain chosen-names">
      {names.map((name, at) => (
        <li key={name}>
          <span>{textOf(name)}</span>
          {onRemove !== undefined && (
            <Button
              kind="quiet-danger"
              size="small"
              aria-label={t('Remove {name}', { name: textOf(name) })}
              onClick={() => onRemove(at)}
            >
              {t('Remove')}
            </Button>
          )}
        </li>
      ))}
    </ol>
  );
}
