// The parts of the pages that tests mount, with Preact, as one script. `EXPORTS` gets them.

import { h, render } from 'preact';
import * as keyFilters from '../../src/web/customer/keys/filters.tsx';
import * as revokeSeveral from '../../src/web/customer/keys/revoke-several.tsx';
import * as composer from '../../src/web/customer/playground/composer.tsx';
import { View as PlaygroundPage } from '../../src/web/customer/playground/page.tsx';
import { changeSettings } from '../../src/web/customer/playground/state.ts';
import * as tools from '../../src/web/customer/playground/tools.ts';
import { View as CustomerRequestsPage } from '../../src/web/customer/requests/page.tsx';
import { AccountTabs } from '../../src/web/operator/accounts/tabs.tsx';
import { View as ApprovalsPage } from '../../src/web/operator/approvals.tsx';
import { useChecked } from '../../src/web/operator/checked.ts';
import { View as AlertsPage } from '../../src/web/operator/overview/alerts.tsx';
import { View as OperatorRequestsPage } from '../../src/web/operator/requests/page.tsx';
import { EnableButton } from '../../src/web/operator/upstreams/places.tsx';
import * as keyActions from '../../src/web/shared/keys/actions.tsx';
import { CopyButton } from '../../src/web/ui/button.tsx';
import { SentField, TypedFilter } from '../../src/web/ui/filter-fields.tsx';
import { weekdays } from '../../src/web/ui/format.ts';
import { useLatest } from '../../src/web/ui/live.ts';
import { lastMonths } from '../../src/web/ui/period.ts';
import { useList, useResource } from '../../src/web/ui/resource.ts';
import { Toasts } from '../../src/web/ui/toast.tsx';

EXPORTS({
  ...{ h, render, Toasts },
  ...{ CopyButton, SentField, lastMonths, useLatest, useList, useResource, weekdays },
  ...{ ...keyActions, ...keyFilters, ...revokeSeveral, ...composer, ...tools },
  ...{ CustomerRequestsPage, OperatorRequestsPage, AlertsPage, ApprovalsPage, AccountTabs },
  ...{ PlaygroundPage, changeSettings, EnableButton, TypedFilter, useChecked },
});
