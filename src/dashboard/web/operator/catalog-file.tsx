// Alerts of the pages that publish into the catalog file.

import type { PublishedRecord } from '../../records/operator-catalog.ts';
import { t } from '../text/t.ts';
import { LinkButton } from '../ui/button.tsx';
import { Alert, Lines } from '../ui/parts.tsx';

/** Before publishing: the server uses an older version of the file. */
export function InactiveFileAlert() {
  return (
    <Alert
      tone="warning"
      title={t('The catalog file is not active')}
      actions={
        <LinkButton href="/catalog" size="small">
          {t('Catalog')}
        </LinkButton>
      }
    >
      <p>{t('Publishing edits the file on disk. First check why the server rejected it.')}</p>
    </Alert>
  );
}

/** After publishing. */
export function RejectedFileAlert({ published }: { readonly published: PublishedRecord }) {
  return (
    <Alert tone="danger" title={t('The file was written, but the server rejected it')}>
      <Lines lines={published.problems} />
      <p>{t('The previous file is {backup}.', { backup: published.backup })}</p>
    </Alert>
  );
}
