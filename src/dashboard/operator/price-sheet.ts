// All prices for programs. The console's page of prices reads them with the catalog file.

import { priceSheet } from '../../operations/price-sheet.ts';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { priceSheetAnswer } from '../records/price.ts';
import type { PeopleDependencies } from './dependencies.ts';

export function priceSheetRoutes({ catalog, clock }: PeopleDependencies): OperatorRoutes {
  return [
    scopedRoute({
      method: 'GET',
      path: '/prices',
      access: 'token',
      name: 'get_prices',
      scope: 'prices:read',
      summary: 'Returns the prices of all models, also past and planned ones.',
      answer: priceSheetAnswer,
      handle: () => priceSheet(catalog(), catalog().models, clock()),
    }),
  ];
}
