// The account's own audit trail.

import { AuditTable } from '../shared/audit/table.tsx';
import { t } from '../text/t.ts';
import { Card, Page } from '../ui/parts.tsx';

export function View() {
  return (
    <Page
      title={t('Audit trail')}
      lead={t(
        "All changes to your account, with who made them and from where. Entries can't be changed or removed.",
      )}
    >
      <Card flush>
        <AuditTable audience="account" />
      </Card>
    </Page>
  );
}
