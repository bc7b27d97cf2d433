// The catalog: the active version, the error of a rejected one, reloading the file, and its text.

import { useState } from 'preact/hooks';
import type {
  CatalogCheckRecord,
  CatalogRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Alert, Card, ErrorAlert, Facts, Loaded, Page } from '../../ui/parts.tsx';
import { useAction, useResource } from '../../ui/resource.ts';
import { Nothing, Time } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';
import { CatalogText } from './editor.tsx';
import { Lines } from './lines.tsx';

export function View() {
  const catalog = useResource<CatalogRecord>('/catalog');
  const [check, setCheck] = useState<CatalogCheckRecord | undefined>(undefined);
  const [asking, setAsking] = useState(false);
  const checking = useAction(async () =>
    setCheck(await post<CatalogCheckRecord>('/catalog/check')),
  );
  return (
    <Page
      title={t('Catalog')}
      lead={t(
        'Models, prices, plans and upstreams come from one file. The server reloads it on change; an invalid file is rejected and the active version stays.',
      )}
      actions={
        <>
          <Button busy={checking.busy.value} onClick={() => void checking.run()}>
            {t('Check file')}
          </Button>
          <Button kind="primary" needs="service.manage" onClick={() => setAsking(true)}>
            {t('Reload')}
          </Button>
        </>
      }
    >
      <ErrorAlert error={checking.error.value} />
      {check && <CheckAlert check={check} />}
      <Loaded resource={catalog} lines={8}>
        {(record) => <Shown record={record} />}
      </Loaded>
      <CatalogText onPublished={() => void catalog.reload()} />
      {asking && (
        <ConfirmDialog
          title={t('Reload the catalog?')}
          consequences={[
            t('The file and its secrets are read and checked as a whole.'),
            t('If anything is invalid, the active catalog stays and you see the error.'),
            t('Requests in progress keep the prices and limits they started with.'),
          ]}
          confirm={t('Reload')}
          act={async () => {
            const { refused, version } = await post<CatalogRecord>('/catalog/reload');
            toast(
              refused ? t('Catalog rejected.') : t('Version {version} is active.', { version }),
            );
            setCheck(undefined);
            await catalog.reload();
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Page>
  );
}

function CheckAlert({ check }: { readonly check: CatalogCheckRecord }) {
  if (check.ok) return <Alert tone="good" title={t('The file is valid')} />;
  return (
    <Alert tone="danger" title={t('The file is invalid')}>
      <Lines lines={check.problems} />
    </Alert>
  );
}

function Shown({ record }: { readonly record: CatalogRecord }) {
  const { refused, digest, digest_on_disk: onDisk } = record;
  const differs = refused === null && onDisk !== null && onDisk !== digest;
  return (
    <>
      {refused && (
        <Alert
          tone="danger"
          title={t('The changed catalog was rejected; the previous version is active')}
        >
          <p>
            <Time at={refused.at} detail="second" />
          </p>
          <Lines lines={refused.problems} />
        </Alert>
      )}
      {differs && (
        <Alert tone="warning" title={t('The file has changed')}>
          <p>{t('The server reloads it once it has not changed for a moment.')}</p>
        </Alert>
      )}
      <Card title={t('Active version')}>
        <Facts
          items={[
            [t('Version'), t('{version} since server start', { version: record.version })],
            [t('Source'), record.path ?? t('Built-in demo catalog')],
            [t('Loaded'), <Time key="read" at={record.loaded_at} detail="second" />],
            [t('Digest'), <code key="digest">{digest}</code>],
            [
              t('On disk'),
              onDisk === null ? (
                <Nothing key="none">{t('Not readable')}</Nothing>
              ) : onDisk === digest ? (
                t('Same')
              ) : (
                <code key="disk">{onDisk}</code>
              ),
            ],
            [
              t('Contents'),
              `${t('{count, plural, one {# model} other {# models}}', { count: record.models })}, ${t('{upstreams, plural, one {# upstream} other {# upstreams}}', { upstreams: record.upstreams })}, ${t('{plans, plural, one {# plan} other {# plans}}', { plans: record.plans })}`,
            ],
          ]}
        />
      </Card>
    </>
  );
}
