// The catalog's text in the page: an editor whose problems lead to their line, the text before the
// last publication, and the review of the draft.

import { useRef } from 'preact/hooks';
import type { CatalogTextRecord } from '../../../dashboard/records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Card, Loaded } from '../../ui/parts.tsx';
import { may } from '../../ui/permission.ts';
import { useResource } from '../../ui/resource.ts';
import { changeText, textOfDraft, useDraftCheck } from './draft.ts';
import { DraftReview } from './review.tsx';

export function CatalogText({ onPublished }: { readonly onPublished: () => void }) {
  const record = useResource<CatalogTextRecord>('/catalog/text');
  return (
    <Loaded resource={record} lines={12}>
      {(data) => <Editor record={data} reload={record.reload} onPublished={onPublished} />}
    </Loaded>
  );
}

/** Lines above the place of a problem. */
const LINES_ABOVE = 4;

function Editor({
  record,
  reload,
  onPublished,
}: {
  readonly record: CatalogTextRecord;
  readonly reload: () => Promise<void>;
  readonly onPublished: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const checked = useDraftCheck();
  const text = textOfDraft(record);
  const { previous } = record;
  const show = (line: number, column: number) => {
    const lines = text.split('\n');
    const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0) + column - 1;
    const field = area.current;
    if (field === null) return;
    field.focus();
    field.setSelectionRange(start, start + 1);
    field.scrollTop = ((line - 1 - LINES_ABOVE) * field.scrollHeight) / lines.length;
  };
  return (
    <>
      <DraftReview
        {...{ record, reload, checked, onPublished }}
        onPlace={({ line, column }) => show(line, column)}
      />
      <Card
        title={t('Text')}
        actions={
          previous !== null &&
          previous !== text && (
            <Button
              size="small"
              needs="service.manage"
              onClick={() => changeText(record, previous)}
            >
              {t('Undo the last publication')}
            </Button>
          )
        }
      >
        <Field
          label={t('Catalog file')}
          hint={t(
            'Keys that are written in the file are marks such as {mark} here, and stay in it. Set a new key in the environment and name its variable.',
            { mark: '<kept east api_key>' },
          )}
          wide
        >
          {(described) => (
            <textarea
              {...described}
              ref={area}
              class="input catalog-text"
              rows={24}
              wrap="off"
              spellcheck={false}
              readOnly={!may('service.manage')}
              value={text}
              onInput={(event) => changeText(record, event.currentTarget.value)}
            />
          )}
        </Field>
      </Card>
    </>
  );
}
