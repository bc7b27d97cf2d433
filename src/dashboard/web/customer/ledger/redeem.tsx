// Redeems a code for balance.

import { useState } from 'preact/hooks';
import type { RedeemedRecord } from '../../../records/customer-ledger.ts';
import {
  Alert,
  Card,
  Form,
  fieldError,
  formatTokens,
  formatUsd,
  post,
  TextField,
  useAction,
} from '../../ui/index.ts';

export function RedeemCard({ onRedeemed }: { readonly onRedeemed: () => unknown }) {
  const [code, setCode] = useState('');
  const [redeemed, setRedeemed] = useState<RedeemedRecord | undefined>(undefined);
  const action = useAction(async () => {
    setRedeemed(undefined);
    setRedeemed(await post<RedeemedRecord>('/redemption', { code }));
    setCode('');
    await onRedeemed();
  });
  return (
    <Card title="Redeem a code">
      <div class="stack">
        {redeemed && (
          <Alert
            tone="good"
            title={`Code redeemed: ${formatTokens(redeemed.amount)} service tokens`}
          >
            Added {formatUsd(redeemed.amount_usd)}. You have {formatTokens(redeemed.available)}{' '}
            service tokens available.
          </Alert>
        )}
        <Form
          action={action}
          fields={['code']}
          submit="Redeem"
          submitKind="plain"
          onSubmit={() => void action.run()}
        >
          <TextField
            label="Code"
            hint="Capital letters and dashes don't matter."
            placeholder="TG-XXXX-XXXX-XXXX-XXXX"
            required
            maxLength={100}
            spellcheck={false}
            value={code}
            onInput={setCode}
            error={fieldError(action, 'code')}
          />
        </Form>
      </div>
    </Card>
  );
}
