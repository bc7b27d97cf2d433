// Lower limits of a model while its upstreams cannot do more: for every account, until they are cleared.

import { useState } from 'preact/hooks';
import type { IncidentRecord, OperatorModelRecord } from '../../../records/operator-catalog.ts';
import {
  FormDialog,
  fieldError,
  formatCountOf,
  put,
  TextField,
  toast,
  useAction,
} from '../../ui/index.ts';

export function incidentWords(incident: IncidentRecord): string {
  const words = [
    [incident.requests_per_minute, 'request', 'a minute'],
    [incident.tokens_per_minute, 'token', 'a minute'],
    [incident.concurrent_requests, 'request', 'at a time'],
  ] as const;
  return words
    .flatMap(([limit, one, when]) =>
      limit === null ? [] : [`${formatCountOf(limit, one)} ${when}`],
    )
    .join(', ');
}

const FIELDS = [
  { name: 'requests_per_minute', label: 'Requests a minute' },
  { name: 'tokens_per_minute', label: 'Tokens a minute' },
  { name: 'concurrent_requests', label: 'Requests at a time' },
] as const;

type FieldName = (typeof FIELDS)[number]['name'];

export function IncidentDialog({
  model: { id, incident },
  reload,
  onClose,
}: {
  readonly model: OperatorModelRecord;
  readonly reload: () => Promise<void>;
  readonly onClose: () => void;
}) {
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
    toast(`The limits of ${id} are lowered.`);
    await reload();
    onClose();
  });
  return (
    <FormDialog
      title={`Lower the limits of ${id}`}
      action={action}
      fields={FIELDS.map(({ name }) => name)}
      submit="Set the limits"
      onClose={onClose}
    >
      <p>
        Each account gets the lower of this and its plan, at once, until you end the incident. Leave
        empty what is not to be lowered.
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
        label="Reason"
        hint="For you and other operators; customers see the limits, not the reason."
        maxLength={200}
        value={reason}
        onInput={setReason}
      />
    </FormDialog>
  );
}
