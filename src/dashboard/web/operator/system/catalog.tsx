// The catalog: which one is in force, why a later one was refused, and having the file read again.

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
      lead="Models, prices, plans and upstreams come from one file. A running server takes it up when it changes, or keeps the old one and says why."
      actions={
        <>
          <Button busy={checking.busy.value} onClick={() => void checking.run()}>
            Check the file
          </Button>
          <Button kind="primary" onClick={() => setAsking(true)}>
            Read it again
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
          title="Read the catalog again?"
          consequences={[
            'The file and its secrets are read now, and checked as a whole.',
            'Where anything is wrong the present catalog stays in force, and you are told why.',
            'Requests under way end by the prices and limits that they began with.',
          ]}
          confirm="Read it again"
          act={async () => {
            const { refused, version } = await post<CatalogRecord>('/catalog/reload');
            toast(refused ? 'The catalog was refused.' : `Version ${version} is in force.`);
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
  if (check.ok) return <Alert tone="good" title="The file is valid as it is now" />;
  return (
    <Alert tone="danger" title="The file would be refused as it is now">
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
        <Alert tone="danger" title="A changed catalog was refused; the one before it serves">
          <p>
            <Time at={refused.at} detail="second" />
          </p>
          <Problems problems={refused.problems} />
        </Alert>
      )}
      {differs && (
        <Alert tone="warning" title="The file has changed since it was read">
          <p>It is taken up within a second, or when it has rested for a moment.</p>
        </Alert>
      )}
      {record.warnings.length > 0 && (
        <Alert tone="warning" title="Warnings">
          <Problems problems={record.warnings} />
        </Alert>
      )}
      <Card title="In force">
        <Facts
          items={[
            ['Version', `${record.version} since the start of the server`],
            ['From', record.path ?? 'The built-in demonstration catalog'],
            ['Read', <Time key="read" at={record.loaded_at} detail="second" />],
            ['Digest', <code key="digest">{digest}</code>],
            [
              'On disk',
              onDisk === null ? (
                <Nothing key="none">Cannot be read</Nothing>
              ) : onDisk === digest ? (
                'the same'
              ) : (
                <code key="disk">{onDisk}</code>
              ),
            ],
            [
              'Holds',
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
              label: 'Requests a minute',
              end: true,
              show: (plan) => formatCount(plan.requests_per_minute),
            },
            {
              label: 'Tokens a minute',
              end: true,
              show: (plan) => formatCount(plan.tokens_per_minute),
            },
            {
              label: 'At a time',
              end: true,
              show: (plan) => formatCount(plan.concurrent_requests),
            },
          ]}
        />
      </Card>
    </>
  );
}
