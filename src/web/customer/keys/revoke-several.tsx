// Revokes several of the listed keys at once.

import { useState } from 'preact/hooks';
import type { KeyListRecord } from '../../../dashboard/records/key.ts';
import { t } from '../../text/t.ts';
import { ApiError, post } from '../../ui/api.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Loaded } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';

/** `path` reads the keys that the list shows. */
export function RevokeSeveralDialog({
  path,
  onDone,
  onClose,
}: {
  readonly path: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const keys = useResource<KeyListRecord>(path);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choices = (keys.data.value?.data ?? []).filter(({ status }) => status !== 'revoked');
  const toggle = (id: string, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const isAll = choices.length > 0 && choices.every(({ id }) => chosen.has(id));
  return (
    <ConfirmDialog
      title={t('Revoke several keys')}
      danger
      confirm={
        chosen.size === 0
          ? t('Revoke keys')
          : t('{count, plural, one {Revoke # key} other {Revoke # keys}}', { count: chosen.size })
      }
      consequences={[
        t('The chosen keys stop working everywhere within 1 second.'),
        t('Requests in progress finish normally.'),
        t('This can’t be undone.'),
      ]}
      act={async () => {
        if (chosen.size === 0) throw new ApiError(0, 'no_keys', t('Choose at least one key.'));
        await post('/keys/revoke', { ids: [...chosen] });
      }}
      done={t('{count, plural, one {# key revoked.} other {# keys revoked.}}', {
        count: chosen.size,
      })}
      onDone={onDone}
      onClose={onClose}
    >
      <Loaded resource={keys}>
        {({ next }) => (
          <div class="stack">
            <CheckField
              label={t('All {count}', { count: String(choices.length) })}
              hint={
                next === null
                  ? undefined
                  : t('The first 200 of the list. Search or filter to see others.')
              }
              checked={isAll}
              onChange={(all) => setChosen(new Set(all ? choices.map(({ id }) => id) : []))}
            />
            <div class="choices">
              {choices.map(({ id, name, masked }) => (
                <CheckField
                  key={id}
                  label={name === null ? masked : `${name} (${masked})`}
                  checked={chosen.has(id)}
                  onChange={(isChosen) => toggle(id, isChosen)}
                />
              ))}
            </div>
          </div>
        )}
      </Loaded>
    </ConfirmDialog>
  );
}
