// Tests a drafted upstream with each of its keys, before it serves customers: a short request for
// each feature of a model, whole and streamed.

import { useState } from 'preact/hooks';
import type { UpstreamTestRecord } from '../../../dashboard/records/operator-catalog.ts';
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
import { choiceText } from './labels.ts';

type Result = UpstreamTestRecord['results'][number];

export function TestDialog({
  apply,
  upstream,
  onProblems,
  onClose,
}: {
  /** The text with the form in it. */
  readonly apply: () => Promise<string>;
  readonly upstream: string;
  /** The form has to be corrected first. */
  readonly onProblems: () => void;
  readonly onClose: () => void;
}) {
  const [model, setModel] = useState('');
  const [results, setResults] = useState<readonly Result[] | undefined>(undefined);
  const action = useAction(async () => {
    setResults(undefined);
    const body = { text: await apply(), upstream, model };
    const answer = await post<UpstreamTestRecord>('/catalog/text/test', body);
    if (answer.problems.length > 0) onProblems();
    setResults(answer.results);
  });
  return (
    <Dialog title={t('Test upstream')} wide onClose={onClose}>
      <p>
        {t(
          'Sends requests of at most 64 tokens each: plain ones with each key, and with a working key one for each feature of the model, whole and streamed. The upstream charges for them. Nothing is published, and the health of the running server does not change.',
        )}
      </p>
      <Form action={action} onSubmit={() => void action.run()}>
        <TextField
          label={t('Model at the upstream')}
          hint={t(
            'A model of the catalog, or a name at the upstream. Defaults to its first model.',
          )}
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
              rowKey={({ credential, feature, stream }) => `${credential} ${feature} ${stream}`}
              columns={[
                { label: t('Key'), show: ({ credential }) => credential },
                { label: t('Request'), show: ({ feature }) => choiceText(feature) },
                { label: t('Answer'), show: ({ stream }) => (stream ? t('streamed') : t('whole')) },
                {
                  label: t('Result'),
                  show: ({ ok }) => (
                    <Badge tone={ok ? 'good' : 'danger'}>{ok ? t('Answered') : t('Failed')}</Badge>
                  ),
                },
                { label: t('Details'), show: ({ detail }) => <span lang="en">{detail}</span> },
                {
                  label: t('Usage'),
                  show: ({ usage }) =>
                    usage === null ? t('not reported') : usage.join(', ') || t('reported'),
                },
                {
                  label: t('First content'),
                  end: true,
                  show: ({ first_content_ms: ms }) => (ms === null ? '–' : formatMilliseconds(ms)),
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
