// The keys of an account.

import type { BoundKeyRecord } from '../../../dashboard/records/key.ts';
import type { AccountDetailRecord } from '../../../dashboard/records/operator-account.ts';
import { keyActions, type ShownKey, ShownKeyDialog } from '../../shared/keys/actions.tsx';
import { KEY_COLUMNS } from '../../shared/keys/columns.tsx';
import { CreateKeyDialog } from '../../shared/keys/create.tsx';
import { t } from '../../text/t.ts';
import { Collection } from '../../ui/collection.tsx';

export type AccountKeysProps = {
  readonly account: AccountDetailRecord;
  /** Must keep the tab mounted: it may show a new key, which is shown only once. */
  readonly onKeysChange: () => Promise<void>;
};

export function View({ account: { id, email }, onKeysChange }: AccountKeysProps) {
  return (
    <Collection<BoundKeyRecord, ShownKey>
      title={t('Keys')}
      within
      path={`/accounts/${id}/keys`}
      empty={{ title: t('No keys yet'), text: t('The owner creates keys on the dashboard.') }}
      columns={KEY_COLUMNS}
      actions={keyActions('all')}
      create={{
        label: t('Create key'),
        needs: 'keys.manage',
        dialog: ({ onShown, onClose }) => (
          <CreateKeyDialog
            title={t('New API key')}
            path={`/accounts/${id}/keys`}
            name={{ hint: t('For {email}. The owner sees it in the list of keys.', { email }) }}
            onCreated={onShown}
            onClose={onClose}
          />
        ),
      }}
      shown={(shown, onClose) => <ShownKeyDialog audience="all" shown={shown} onClose={onClose} />}
      onChange={onKeysChange}
    />
  );
}
