// One request, on a page or in a panel beside its list: its history, or how it was refused.

import type { ComponentChildren } from 'preact';
import { t } from '../../text/t.ts';
import { LinkButton } from '../../ui/button.tsx';
import { useOpenedFrom } from '../../ui/kept-list.ts';
import type { PageProps } from '../../ui/page.ts';
import { Panel } from '../../ui/panel.tsx';
import { Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';

type Neighbours = {
  readonly newer?: string | null | undefined;
  readonly older?: string | null | undefined;
};

/** A history may name its neighbours, for a page that was not opened from a list. */
type Found = Neighbours & { readonly object: 'request' };

/** What a request that is open beside its list knows of it. */
type Beside = {
  readonly ids: readonly string[];
  readonly hrefOf: (id: string) => string;
  readonly close: () => void;
};

/** With `panel`, the request is shown in a panel instead of a page. */
export type RequestViewProps = PageProps & { readonly panel?: Beside };

export function RequestPage<History extends Found, Refused extends { readonly object: string }>({
  id,
  lead = <code>{id}</code>,
  panel,
  history,
  refused,
}: {
  readonly id: string;
  readonly lead?: ComponentChildren;
  readonly panel: Beside | undefined;
  readonly history: (history: History, reload: () => unknown) => ComponentChildren;
  readonly refused: (refused: Refused) => ComponentChildren;
}) {
  // Other words are the paths of lists, which have another form.
  const path = /^req_\w+$/.test(id) ? id : 'req_';
  const request = useResource<History | Refused>(`/requests/${path}`);
  const from = useOpenedFrom('/requests');
  const data = request.data.value;
  const neighbours =
    neighboursIn(id, panel?.ids ?? from?.ids) ?? (data && isHistory(data) ? data : undefined);
  const hrefOf = panel?.hrefOf ?? ((other) => `/requests/${other}`);
  const actions = (
    <>
      {neighbours?.newer && (
        <LinkButton size="small" href={hrefOf(neighbours.newer)}>
          {t('← Newer')}
        </LinkButton>
      )}
      {neighbours?.older && (
        <LinkButton size="small" href={hrefOf(neighbours.older)}>
          {t('Older →')}
        </LinkButton>
      )}
      {panel && (
        <LinkButton size="small" href={`/requests/${id}`}>
          {t('Open page')}
        </LinkButton>
      )}
    </>
  );
  const content = (
    <Loaded resource={request} lines={8}>
      {(loaded) => (isHistory(loaded) ? history(loaded, request.reload) : refused(loaded))}
    </Loaded>
  );
  if (panel) {
    return (
      <Panel title={t('Request')} lead={lead} actions={actions} onClose={panel.close}>
        {content}
      </Panel>
    );
  }
  return (
    <Page
      title={t('Request')}
      back={{ href: `/requests${from?.search ?? ''}`, label: t('Requests') }}
      lead={lead}
      actions={actions}
    >
      {content}
    </Page>
  );
}

function isHistory<History extends Found, Refused extends { readonly object: string }>(
  record: History | Refused,
): record is History {
  return record.object === 'request';
}

/** The next newer and the next older one of the list that the page was opened from. */
function neighboursIn(id: string, ids: readonly string[] = []): Neighbours | undefined {
  const place = ids.indexOf(id);
  return place < 0 ? undefined : { newer: ids[place - 1], older: ids[place + 1] };
}
