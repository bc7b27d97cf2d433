// The entry changed in the file while a draft of it was open: shows both changes, and offers to make
// those of the draft again.

import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { Alert } from '../../ui/parts.tsx';
import { fieldText } from './labels.ts';
import { changedMembers, type FormValue, redone } from './values.ts';

export function ConflictAlert({
  base,
  value,
  now,
  onChoose,
}: {
  /** The entry that the draft began with. */
  readonly base: FormValue;
  readonly value: FormValue;
  readonly now: FormValue;
  readonly onChoose: (value: FormValue) => void;
}) {
  return (
    <Alert
      tone="warning"
      title={t('The file has changed since you began')}
      actions={
        <>
          <Button size="small" onClick={() => onChoose(redone(base, value, now))}>
            {t('Reapply my changes')}
          </Button>
          <Button size="small" onClick={() => onChoose(now)}>
            {t('Discard my changes')}
          </Button>
        </>
      }
    >
      <Changes title={t('In the file:')} before={base} after={now} />
      <Changes title={t('In your draft:')} before={base} after={value} />
    </Alert>
  );
}

function Changes({
  title,
  before,
  after,
}: {
  readonly title: string;
  readonly before: FormValue;
  readonly after: FormValue;
}) {
  return (
    <>
      <p>{title}</p>
      <ul>
        {changedMembers(before, after).map((name) => (
          <li key={name}>
            {t('{field}: {from} → {to}', {
              field: fieldText(name).label,
              from: shown(before[name]),
              to: shown(after[name]),
            })}
          </li>
        ))}
      </ul>
    </>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return t('not set');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
