// A code that somebody gave to the customer, turned into balance.

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
            title={`The code is redeemed: ${formatTokens(redeemed.amount)} service tokens`}
          >
            That is {formatUsd(redeemed.amount_usd)}, added once, however often the code is entered.{' '}
            {formatTokens(redeemed.available)} are available now.
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
            hint="As it was given to you; capitals and dashes do not matter."
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
