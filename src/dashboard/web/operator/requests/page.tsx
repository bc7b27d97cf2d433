// Finds a request by its id.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Button, Card, Empty, Page, TextField } from '../../ui/index.ts';

export function RequestsPage() {
  const [typed, setTyped] = useState('');
  const [, navigate] = useLocation();
  return (
    <Page title="Requests" lead="Find a request by the id in its x-request-id response header.">
      <Card title="Find a request">
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            navigate(`/requests/${encodeURIComponent(typed.trim())}`);
          }}
        >
          <TextField
            label="Request id"
            hint="Starts with req_. Requests rejected before they reached an upstream are not listed."
            required
            maxLength={100}
            spellcheck={false}
            value={typed}
            onInput={setTyped}
          />
          <div class="actions">
            <Button type="submit" kind="primary">
              Show request
            </Button>
          </div>
        </form>
      </Card>
      <Card>
        <Empty title="No request selected">
          The page of an account lists its requests, newest first.
        </Empty>
      </Card>
    </Page>
  );
}
