// The parts of the pages that tests mount, with Preact, as one script. `EXPORTS` gets them.

import { h, render } from 'preact';
import * as keyFilters from '../../src/dashboard/web/customer/keys/filters.tsx';
import * as revokeSeveral from '../../src/dashboard/web/customer/keys/revoke-several.tsx';
import * as composer from '../../src/dashboard/web/customer/playground/composer.tsx';
import * as tools from '../../src/dashboard/web/customer/playground/tools.ts';
import { View as CustomerRequestsPage } from '../../src/dashboard/web/customer/requests/page.tsx';
import { AccountTabs } from '../../src/dashboard/web/operator/accounts/tabs.tsx';
import { View as ApprovalsPage } from '../../src/dashboard/web/operator/approvals.tsx';
import { useChecked } from '../../src/dashboard/web/operator/checked.ts';
import { View as AlertsPage } from '../../src/dashboard/web/operator/overview/alerts.tsx';
import { View as OperatorRequestsPage } from '../../src/dashboard/web/operator/requests/page.tsx';
import { EnableButton } from '../../src/dashboard/web/operator/upstreams/places.tsx';
import * as keyActions from '../../src/dashboard/web/shared/keys/actions.tsx';
import { CopyButton } from '../../src/dashboard/web/ui/button.tsx';
import { SentField, TypedFilter } from '../../src/dashboard/web/ui/filter-fields.tsx';
import { weekdays } from '../../src/dashboard/web/ui/format.ts';
import { useLatest } from '../../src/dashboard/web/ui/live.ts';
import { lastMonths } from '../../src/dashboard/web/ui/period.ts';
import { useList, useResource } from '../../src/dashboard/web/ui/resource.ts';
import { Toasts } from '../../src/dashboard/web/ui/toast.tsx';

EXPORTS({
  ...{ h, render, Toasts },
  ...{ CopyButton, SentField, lastMonths, useLatest, useList, useResource, weekdays },
  ...{ ...keyActions, ...keyFilters, ...revokeSeveral, ...composer, ...tools },
  ...{ CustomerRequestsPage, OperatorRequestsPage, AlertsPage, ApprovalsPage, AccountTabs },
  ...{ EnableButton, TypedFilter, useChecked },
});
