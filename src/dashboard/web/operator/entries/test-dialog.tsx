// Tests a drafted upstream: one short generation with each of its keys, before it serves customers.

import { useState } from 'preact/hooks';
import type { UpstreamTestRecord } from '../../../records/operator-entries.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/field.tsx';
import { formatMilliseconds } from '../../ui/format.ts';
import { ErrorAlert } from '../../ui/parts.tsx';
import { useAction } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Badge } from '../../ui/text.tsx';

type Result = UpstreamTestRecord['results'][number];

export function TestDialog({
  body,
  onProblems,
  onClose,
}: {
  /** The draft, as for a check. */
  readonly body: object;
  /** The form has to be corrected first. */
  readonly onProblems: () => void;
  readonly onClose: () => void;
}) {
  const [model, setModel] = useState('');
  const [results, setResults] = useState<readonly Result[] | undefined>(undefined);
  const action = useAction(async () => {
    setResults(undefined);
    const answer = await post<UpstreamTestRecord>('/catalog/entries/test', { ...body, model });
    if (answer.problems.length > 0) onProblems();
    setResults(answer.results);
  });
  return (
    <Dialog title={t('Test upstream')} wide onClose={onClose}>
      <p>
        {t(
          'Sends one request of a few tokens with each key, as the form has them. Nothing is published, and the health of the running server does not change.',
        )}
      </p>
      <Form action={action} onSubmit={() => void action.run()}>
        <TextField
          label={t('Model at the upstream')}
          hint={t('Defaults to its first model in the catalog.')}
          value={model}
          onInput={setModel}
        />
        <div class="actions">
          <Button onClick={onClose}>{t('Close')}</Button>
          <Button type="submit" kind="primary" busy={action.busy.value}>
            {t('Test')}
          </Button>
        </div>
      </Form>
      <div aria-live="polite">
        {results !== undefined &&
          (results.length === 0 ? (
            <ErrorAlert error={action.error.value} />
          ) : (
            <Table
              caption={t('Results of the test')}
              rows={results}
              rowKey={({ credential }) => credential}
              columns={[
                { label: t('Key'), show: ({ credential }) => credential },
                {
                  label: t('Result'),
                  show: ({ ok }) => (
                    <Badge tone={ok ? 'good' : 'danger'}>{ok ? t('Answered') : t('Failed')}</Badge>
                  ),
                },
                {
                  label: t('Details'),
                  show: ({ detail, status }) =>
                    [status === null ? '' : String(status), detail ?? '']
                      .filter(Boolean)
                      .join(': '),
                },
                {
                  label: t('Duration'),
                  end: true,
                  show: ({ duration_ms: ms }) => formatMilliseconds(ms),
                },
              ]}
            />
          ))}
      </div>
    </Dialog>
  );
}
