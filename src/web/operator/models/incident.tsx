// Lowers the limits of a model for every account while its upstreams have reduced capacity.

import { useState } from 'preact/hooks';
import type {
  IncidentRecord,
  OperatorModelRecord,
} from '../../../dashboard/records/operator-model.ts';
import { listed, t } from '../../text/t.ts';
import { put } from '../../ui/api.ts';
import type { ChangeDialogProps } from '../../ui/collection.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { fieldError, TextField } from '../../ui/field.tsx';
import { useAction } from '../../ui/resource.ts';
import { toast } from '../../ui/toast.tsx';

export function incidentWords(incident: IncidentRecord): string {
  const { requests_per_minute: requests, tokens_per_minute: tokens } = incident;
  const { concurrent_requests: concurrent } = incident;
  const words = [
    requests !== null &&
      t('{requests, plural, one {# request} other {# requests}} per minute', { requests }),
    tokens !== null && t('{tokens, plural, one {# token} other {# tokens}} per minute', { tokens }),
    concurrent !== null &&
      t('{concurrent, plural, one {# request} other {# requests}} at a time', { concurrent }),
  ];
  return listed(words.filter((word) => word !== false));
}

const FIELDS = [
  { name: 'requests_per_minute', label: t('Requests per minute') },
  { name: 'tokens_per_minute', label: t('Tokens per minute') },
  { name: 'concurrent_requests', label: t('Concurrent requests') },
] as const;

type FieldName = (typeof FIELDS)[number]['name'];

export function IncidentDialog({
  model: { id, incident },
  onDone,
  onClose,
}: ChangeDialogProps & { readonly model: OperatorModelRecord }) {
  const [values, setValues] = useState<Readonly<Record<FieldName, string>>>({
    requests_per_minute: String(incident?.requests_per_minute ?? ''),
    tokens_per_minute: String(incident?.tokens_per_minute ?? ''),
    concurrent_requests: String(incident?.concurrent_requests ?? ''),
  });
  const [reason, setReason] = useState(incident?.reason ?? '');
  const action = useAction(async () => {
    const limits = FIELDS.flatMap(({ name }) =>
      values[name] === '' ? [] : [[name, Number(values[name])]],
    );
    await put(`/models/${id}/incident`, { ...Object.fromEntries(limits), reason });
    toast(t('Limits of {id} lowered.', { id }));
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title={t('Lower limits of {id}', { id })}
      action={action}
      fields={FIELDS.map(({ name }) => name)}
      submit={t('Set limits')}
      onClose={onClose}
    >
      <p>
        {t(
          "Each account gets the lower of these limits and its plan's, until you end the incident. Leave a field empty to keep the plan's limit.",
        )}
      </p>
      {FIELDS.map(({ name, label }) => (
        <TextField
          key={name}
          label={label}
          type="number"
          inputMode="numeric"
          min={1}
          max={999_999_999}
          value={values[name]}
          error={fieldError(action, name)}
          onInput={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      <TextField
        label={t('Reason')}
        hint={t('For operators only. Customers see the limits, not the reason.')}
        maxLength={200}
        value={reason}
        onInput={setReason}
      />
    </FormDialog>
  );
}
