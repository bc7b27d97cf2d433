// Finds a request by the id that a customer quotes.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Button, Card, Empty, Page, TextField } from '../../ui/index.ts';

export function RequestsPage() {
  const [typed, setTyped] = useState('');
  const [, navigate] = useLocation();
  return (
    <Page
      title="Requests"
      lead="Customers quote the id of a request in their tickets: it is in the header x-request-id of every answer."
    >
      <Card title="Find a request">
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            navigate(`/requests/${encodeURIComponent(typed.trim())}`);
          }}
        >
          <TextField
            label="Id of the request"
            hint="It begins with req_. Requests that were refused before an upstream was asked leave no entry."
            required
            maxLength={100}
            spellcheck={false}
            value={typed}
            onInput={setTyped}
          />
          <div class="actions">
            <Button type="submit" kind="primary">
              Show the request
            </Button>
          </div>
        </form>
      </Card>
      <Card>
        <Empty title="Looking for the requests of an account?">
          They are on the page of that account, newest first.
        </Empty>
      </Card>
    </Page>
  );
}
