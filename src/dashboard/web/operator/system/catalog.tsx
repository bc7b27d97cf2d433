// The catalog: the active version, the error of a rejected one, and reloading the file.

import { useState } from 'preact/hooks';
import type { CatalogCheckRecord, CatalogRecord } from '../../../records/operator-catalog.ts';
import {
  Alert,
  Button,
  Card,
  ConfirmDialog,
  ErrorAlert,
  Facts,
  formatCount,
  formatCountOf,
  Loaded,
  Nothing,
  Page,
  post,
  Table,
  Time,
  toast,
  useAction,
  useResource,
} from '../../ui/index.ts';

export function CatalogPage() {
  const catalog = useResource<CatalogRecord>('/catalog');
  const [check, setCheck] = useState<CatalogCheckRecord | undefined>(undefined);
  const [asking, setAsking] = useState(false);
  const checking = useAction(async () =>
    setCheck(await post<CatalogCheckRecord>('/catalog/check')),
  );
  return (
    <Page
      title="Catalog"
      lead="Models, prices, plans and upstreams come from one file. The server reloads it on change; an invalid file is rejected and the active version stays."
      actions={
        <>
          <Button busy={checking.busy.value} onClick={() => void checking.run()}>
            Check file
          </Button>
          <Button kind="primary" onClick={() => setAsking(true)}>
            Reload
          </Button>
        </>
      }
    >
      <ErrorAlert error={checking.error.value} />
      {check && <CheckAlert check={check} />}
      <Loaded resource={catalog} lines={8}>
        {(record) => <Shown record={record} />}
      </Loaded>
      {asking && (
        <ConfirmDialog
          title="Reload the catalog?"
          consequences={[
            'The file and its secrets are read and checked as a whole.',
            'If anything is invalid, the active catalog stays and you see the error.',
            'Requests in progress keep the prices and limits they started with.',
          ]}
          confirm="Reload"
          act={async () => {
            const { refused, version } = await post<CatalogRecord>('/catalog/reload');
            toast(refused ? 'Catalog rejected.' : `Version ${version} is active.`);
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
  if (check.ok) return <Alert tone="good" title="The file is valid" />;
  return (
    <Alert tone="danger" title="The file is invalid">
      <Problems problems={check.problems} />
    </Alert>
  );
}

function Problems({ problems }: { readonly problems: readonly string[] }) {
  return (
    <ul>
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
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
          title="The changed catalog was rejected; the previous version is active"
        >
          <p>
            <Time at={refused.at} detail="second" />
          </p>
          <Problems problems={refused.problems} />
        </Alert>
      )}
      {differs && (
        <Alert tone="warning" title="The file has changed">
          <p>The server reloads it once it has not changed for a moment.</p>
        </Alert>
      )}
      {record.warnings.length > 0 && (
        <Alert tone="warning" title="Warnings">
          <Problems problems={record.warnings} />
        </Alert>
      )}
      <Card title="Active version">
        <Facts
          items={[
            ['Version', `${record.version} since server start`],
            ['Source', record.path ?? 'Built-in demo catalog'],
            ['Loaded', <Time key="read" at={record.loaded_at} detail="second" />],
            ['Digest', <code key="digest">{digest}</code>],
            [
              'On disk',
              onDisk === null ? (
                <Nothing key="none">Not readable</Nothing>
              ) : onDisk === digest ? (
                'Same'
              ) : (
                <code key="disk">{onDisk}</code>
              ),
            ],
            [
              'Contents',
              `${formatCountOf(record.models, 'model')}, ${formatCountOf(record.upstreams, 'upstream')}`,
            ],
          ]}
        />
      </Card>
      <Card title="Plans" flush>
        <Table
          caption="Plans"
          rows={record.plans}
          rowKey={({ slug }) => slug}
          columns={[
            { label: 'Plan', show: ({ slug }) => slug },
            { label: 'Name', show: ({ name }) => name },
            {
              label: 'Accounts',
              end: true,
              show: ({ accounts }) => formatCount(accounts),
              sortBy: ({ accounts }) => accounts,
            },
            {
              label: 'Requests per minute',
              end: true,
              show: (plan) => formatCount(plan.requests_per_minute),
            },
            {
              label: 'Tokens per minute',
              end: true,
              show: (plan) => formatCount(plan.tokens_per_minute),
            },
            {
              label: 'Concurrent',
              end: true,
              show: (plan) => formatCount(plan.concurrent_requests),
            },
          ]}
        />
      </Card>
    </>
  );
}
